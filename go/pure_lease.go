//go:build !cgo || flakeid_pure || !(flakeid_shared || flakeid_static || (linux && (amd64 || arm64)))

package flakeid

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pureKeeper keeps a lease from a broker: it sends the library's requests, passes the responses to the library, and
// sets timers. The library makes all decisions. If a timer is late, the window has ended.
type pureKeeper struct {
	of     *nativeGenerator
	events *eventQueue
	// attempts is the number of completed attempts to acquire or renew a node, gains the number of grants and renewals.
	attempts, gains atomic.Uint64

	mutex sync.Mutex
	// asked is the number of calls that need a window, heard the number that the latest request takes into account.
	asked, heard uint64
	isClosing    bool
	// changed is closed and replaced when a step has ended or the lease is closing.
	changed chan struct{}
	// wake interrupts a pause of the keeper.
	wake chan struct{}
	// done is closed when the keeper has ended.
	done chan struct{}
}

const (
	// longestClose is the time for which Close waits for the release of the node.
	longestClose = time.Second
	// largestAnswer is the largest number of bytes of a response that are read.
	largestAnswer = 1 << 20
)

// broker sends requests to brokers. It does not follow redirections, because a request contains the broker's token.
var broker = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// newLeased leases a node from the brokers at url, or at the URL that the environment contains if url is nil.
func newLeased(url *string, s *settings, events *eventQueue) (*nativeGenerator, error) {
	chosen := *s
	if url == nil {
		store, isSet := os.LookupEnv("FLAKEID_STORE")
		if !isSet || store == "" {
			return nil, refused(ErrInvalidOption, "", "FLAKEID_STORE is not set, and this program was built without "+
				"cgo, so that it cannot use the store of this host; set FLAKEID_STORE to the URL of a broker")
		}
		url = &store
		if namespace := os.Getenv("FLAKEID_NAMESPACE"); namespace != "" {
			chosen.texts = append([][2]string{{"namespace", namespace}}, s.texts...)
		}
	}
	if !strings.HasPrefix(*url, "http://") && !strings.HasPrefix(*url, "https://") {
		return nil, refused(ErrInvalidOption, "", "url: this program was built without cgo, so that it can lease "+
			"nodes only from brokers (http://host:port or https://host:port); build it with CGO_ENABLED=1 for other stores")
	}
	l := statefulLibrary()
	made := &nativeGenerator{library: l}
	err := l.call(func() error {
		options, err := l.options(&chosen)
		if err != nil {
			return err
		}
		defer l.module.Xflakeid_options_free(options)
		l.meet()
		host, _ := os.Hostname() // which is only for human readers
		l.module.Xflakeid_host_owner(l.text(host), int32(os.Getpid()))
		to := l.room(4)
		if err := l.failure(l.module.Xflakeid_fetched_open(l.text(url), options, to)); err != nil {
			return err
		}
		made.at = address(l.u32(to))
		return nil
	})
	if err != nil {
		return nil, err
	}
	keeper := &pureKeeper{
		of: made, events: events, changed: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	made.keeper = keeper
	go keeper.run()
	if !keeper.awaitOpen() {
		err := made.windowError()
		keeper.close()
		go made.free() // which waits for a request in progress
		return nil, err
	}
	return made, nil
}

// awaitOpen waits for the first node. The time for it becomes longer while the store grants nothing for a while.
func (k *pureKeeper) awaitOpen() bool {
	begun := time.Now()
	for timeout := time.Duration(-1); ; {
		longer := timeout
		_ = k.of.with(func(l *pureLibrary) error { longer = duration(int64(l.step(k.of.at).openTimeoutMs)); return nil })
		if longer <= timeout {
			return false
		}
		if longest := time.Duration(math.MaxInt64 / 2); longer > longest {
			longer = longest
		}
		timeout = longer
		if k.awaitGain(context.Background(), 0, begun.Add(timeout), nil) {
			return true
		}
	}
}

// leaseStep is the state after a step of a lease.
type leaseStep struct {
	rest, pause                            time.Duration
	attempts, gains, grants, openTimeoutMs uint64
	isEnded                                bool
}

func (l *pureLibrary) step(at address) leaseStep {
	to := l.room(56)
	l.module.Xflakeid_fetched_step(at, to)
	span := func(at address) time.Duration {
		const longest = uint64(time.Hour / time.Microsecond)
		micros := l.u64(at)
		if micros > longest {
			micros = longest
		}
		return time.Duration(micros) * time.Microsecond
	}
	return leaseStep{span(to), span(to + 8), l.u64(to + 16), l.u64(to + 24), l.u64(to + 32), l.u64(to + 40),
		l.u64(to+48) != 0}
}

// windowError returns the error that explains why the lease has no window.
func (n *nativeGenerator) windowError() error {
	return n.with(func(l *pureLibrary) error { return l.failure(l.module.Xflakeid_fetched_why(n.at)) })
}

func (n *nativeGenerator) lease() (status LeaseStatus, err error) {
	err = n.with(func(l *pureLibrary) error {
		to := l.room(72)
		if err := l.failure(l.module.Xflakeid_fetched_status(n.pointer(), to)); err != nil {
			return err
		}
		status = LeaseStatus{
			FencedOff: l.u64(to) != 0, Start: l.u64(to + 8), Fence: l.u64(to + 16),
			FenceTime: moment(l.i64(to + 24)), Expires: moment(l.i64(to + 32)),
			Renewals: l.u64(to + 40), Grants: l.u64(to + 48), Failures: l.u64(to + 56),
			LastError: codeOf(Code(l.u64(to + 64))),
		}
		if status.Grants > 0 {
			status.ExpiresIn = time.Until(status.Expires).Truncate(time.Millisecond)
		}
		return nil
	})
	return status, err
}

// pureRequest is a request that the keeper must send.
type pureRequest struct {
	method, url, authorization, body string
	timeout                          time.Duration
}

// advance makes a call of the lease, and returns the next request, or nil if no request is due.
func (k *pureKeeper) advance(call func(l *pureLibrary)) (request *pureRequest, step leaseStep) {
	n := k.of
	err := n.with(func(l *pureLibrary) error {
		call(l)
		if at := l.module.Xflakeid_fetched_request(n.at); at != 0 {
			text := func(index address) string { return l.read(l.module.Xflakeid_fetched_request_string(at, index)) }
			timeout := l.module.Xflakeid_fetched_request_timeout(at)
			request = &pureRequest{text(0), text(1), text(2), text(3), time.Duration(timeout) * time.Millisecond}
			l.module.Xflakeid_fetched_request_free(at)
		}
		k.tell(l)
		step = l.step(n.at)
		n.renewWord(step.grants)
		return nil
	})
	if err != nil {
		step = leaseStep{isEnded: true}
	}
	k.attempts.Store(step.attempts)
	k.gains.Store(step.gains)
	k.mutex.Lock()
	close(k.changed)
	k.changed = make(chan struct{})
	k.mutex.Unlock()
	return request, step
}

// renewWord replaces the word after the lease was granted another node.
func (n *nativeGenerator) renewWord(grant uint64) {
	if n.current != nil && n.current.grant == grant {
		return
	}
	if old := n.current; old != nil {
		old.limit.Store(0) // its word is closed
	}
	n.current = n.exposed(grant)
}

// tell passes the lease's events to the program.
func (k *pureKeeper) tell(l *pureLibrary) {
	for {
		to := l.room(32)
		err := l.failure(l.module.Xflakeid_fetched_event(k.of.at, to))
		kind := l.u64(to)
		if kind == 0 {
			return
		}
		if k.events != nil && kind <= uint64(LeaseReleased) {
			k.events.put(LeaseEvent{EventKind(kind), l.u64(to + 8), l.u64(to + 16), l.u64(to + 24), err})
		}
	}
}

func (k *pureKeeper) run() {
	defer close(k.done)
	for {
		k.mutex.Lock()
		heard := k.asked
		k.heard = heard
		k.mutex.Unlock()
		request, step := k.advance(func(l *pureLibrary) { l.module.Xflakeid_fetched_wake(k.of.at) })
		for request != nil {
			status, body := request.send()
			request, step = k.advance(func(l *pureLibrary) {
				l.module.Xflakeid_fetched_answered(k.of.at, status, l.bytes(body), address(len(body)))
			})
		}
		if step.isEnded {
			return
		}
		k.sleep(step.rest, func() bool { return k.isClosing || k.asked != heard })
		// Every failure is followed by a pause, regardless of the number of waiting calls.
		var pause time.Duration
		_ = k.of.with(func(l *pureLibrary) error { pause = l.step(k.of.at).pause; return nil })
		k.sleep(pause, func() bool { return k.isClosing })
	}
}

// send sends the request and returns the response, or 0 and the reason for a failure.
func (r *pureRequest) send() (status int32, body []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader([]byte(r.body)))
	if err != nil {
		return 0, []byte(err.Error())
	}
	request.Header.Set("Content-Type", "application/json")
	if r.authorization != "" {
		request.Header.Set("Authorization", r.authorization)
	}
	response, err := broker.Do(request)
	if err == nil {
		defer response.Body.Close()
		body, err = io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	}
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the URL, which the library's message has
		}
		return 0, []byte(err.Error())
	}
	return int32(response.StatusCode), body
}

// sleep waits for a time, or until isOver returns true. The mutex guards isOver.
func (k *pureKeeper) sleep(longest time.Duration, isOver func() bool) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	for {
		k.mutex.Lock()
		over := isOver()
		k.mutex.Unlock()
		if over {
			return
		}
		select {
		case <-timer.C:
			return
		case <-k.wake:
		}
	}
}

func (k *pureKeeper) interrupt() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// request requests a window for a call, and returns the number of requests so far.
func (k *pureKeeper) request() uint64 {
	k.mutex.Lock()
	k.asked++
	asked := k.asked
	k.mutex.Unlock()
	k.interrupt()
	return asked
}

// awaitGain waits for a grant or a renewal after since. It returns false if waiting longer cannot succeed, if ctx has
// ended, or if the call did not fail because the lease had no window.
func (k *pureKeeper) awaitGain(ctx context.Context, since uint64, deadline time.Time, failed error) bool {
	if failed != nil && !errors.Is(failed, ErrLeaseExpired) && !k.mayWait(deadline) {
		return false
	}
	if k.gains.Load() != since {
		return true
	}
	asked, seen := k.request(), k.attempts.Load()
	for {
		k.mutex.Lock()
		changed, isTried := k.changed, k.heard >= asked
		isClosing := k.isClosing
		k.mutex.Unlock()
		if k.gains.Load() != since {
			return true
		}
		attempts := k.attempts.Load()
		cannotSucceed := isTried && attempts != seen && !k.mayWait(deadline)
		if isTried {
			seen = attempts
		}
		left := time.Until(deadline)
		if left <= 0 || cannotSucceed || isClosing {
			return false
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return k.gains.Load() != since
		case <-k.done:
			timer.Stop()
			return k.gains.Load() != since
		}
		timer.Stop()
	}
}

// mayWait reports whether the lease has no window but can get one before the deadline.
func (k *pureKeeper) mayWait(deadline time.Time) bool {
	err := k.of.with(func(l *pureLibrary) error {
		return l.failure(l.module.Xflakeid_fetched_may_wait(k.of.at, int64(remainingMs(deadline))))
	})
	return err == nil
}

// close releases the node, and waits for the release. A node that is not released in time expires.
func (k *pureKeeper) close() {
	k.mutex.Lock()
	isFirst := !k.isClosing
	k.isClosing = true
	k.mutex.Unlock()
	if isFirst {
		_ = k.of.with(func(l *pureLibrary) error { return l.failure(l.module.Xflakeid_generator_close(k.of.at)) })
	}
	k.interrupt()
	timer := time.NewTimer(longestClose)
	defer timer.Stop()
	select {
	case <-k.done:
	case <-timer.C:
	}
}

func createNamespace(string, string, *settings) (time.Duration, error) {
	return 0, refused(ErrInvalidOption, "", "url: this program was built without cgo, so that it cannot create namespaces; "+
		"build it with CGO_ENABLED=1, or run flakeid leases init")
}
