//go:build cgo && !flakeid_pure && (flakeid_shared || flakeid_static || (linux && (amd64 || arm64)))

package flakeid_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

func store(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "flakeid.db") }

// TestLease leases a node twice, the second time after the first generator released it.
func TestLease(t *testing.T) {
	url, last := store(t), flakeid.ID(0)
	for range [2]int{} {
		generator := must[*flakeid.Generator](t, nil)(flakeid.OpenLease(context.Background(), url,
			flakeid.WithNamespace("orders"), flakeid.WithNodeRange(5, 5), flakeid.WithTTL(30*time.Second)))
		same(t, nil, must[uint64](t, nil)(generator.Node()), 5)
		ids := must[[]flakeid.ID](t, nil)(generator.AppendIDs(nil, 10_000))
		for _, id := range ids {
			if id <= last {
				t.Fatalf("%d is not above %d", id, last)
			}
			last = id
		}
		status := must[flakeid.LeaseStatus](t, nil)(generator.Lease())
		same(t, nil, status.Grants, 1)
		if status.LastError != nil || !status.FenceTime.After(time.Now()) {
			t.Fatal(status)
		}
		if status.ExpiresIn <= 0 || status.ExpiresIn > 30*time.Second {
			t.Fatal(status)
		}
		_, _, err := generator.Retire()
		code(t, flakeid.ErrInvalidOption, err)
		for range [2]int{} {
			if err := generator.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_, err = generator.NextID()
		code(t, flakeid.ErrClosed, err)
	}
}

// TestCollected lets the garbage collector release the node of a generator that was not closed.
func TestCollected(t *testing.T) {
	url, ctx := store(t), context.Background()
	must[*flakeid.Generator](t, nil)(flakeid.OpenLease(ctx, url, flakeid.WithNode(4), flakeid.WithTTL(time.Hour),
		flakeid.WithEvents(func(flakeid.LeaseEvent) {})))
	for start := time.Now(); ; {
		runtime.GC()
		generator, err := flakeid.OpenLease(ctx, url, flakeid.WithNodeRange(4, 4), flakeid.WithMaxWait(0))
		if err == nil {
			generator.Close()
			return
		}
		code(t, flakeid.ErrNoFreeNode, err)
		if time.Since(start) > 20*time.Second {
			t.Fatal("it was not collected")
		}
	}
}

func TestRefusedLeases(t *testing.T) {
	ctx, url := context.Background(), store(t)
	type options = []flakeid.LeaseOption
	for _, at := range []struct {
		code    flakeid.Code
		url     string
		options options
	}{
		{flakeid.ErrInvalidOption, url, options{flakeid.WithNamespace("no such")}},
		{flakeid.ErrInvalidOption, url, options{flakeid.WithName("a\x00b")}},
		{flakeid.ErrInvalidOption, url, options{flakeid.WithNode(1), flakeid.WithName("one")}},
		{flakeid.ErrInvalidOption, url, options{flakeid.WithNodeCount(3)}},
		{flakeid.ErrInvalidOption, url, options{flakeid.WithRollback(flakeid.RollbackClockSequence)}},
		{flakeid.ErrFieldOutOfRange, url, options{flakeid.WithNode(1024)}},
		{flakeid.ErrFieldOutOfRange, url, options{flakeid.WithLeaseWindow(-1)}},
		{flakeid.ErrFieldOutOfRange, url, options{flakeid.WithLeaseWindow(0)}},
		{flakeid.ErrInvalidOption, "gopher://host", nil},
		{flakeid.ErrInvalidOption, "", nil},
		{flakeid.ErrInvalidOption, url, options{nil}},
		{flakeid.ErrInvalidOption, "sqlite:///a\x00b", nil},
	} {
		generator, err := flakeid.OpenLease(ctx, at.url, at.options...)
		code(t, at.code, err)
		if generator != nil {
			t.Fatal("the failed call returned a generator")
		}
	}
}

func TestAutoReadsTheStoreFromTheEnvironment(t *testing.T) {
	t.Setenv("FLAKEID_STORE", store(t))
	t.Setenv("FLAKEID_NAMESPACE", "orders")
	generator := must[*flakeid.Generator](t, nil)(flakeid.Auto(context.Background(), flakeid.WithNode(9)))
	defer generator.Close()
	same(t, nil, must[uint64](t, nil)(generator.Node()), 9)
	t.Setenv("FLAKEID_STORE", "gopher://host")
	_, err := flakeid.Auto(context.Background())
	code(t, flakeid.ErrInvalidOption, err)
}

// Both calls take at least 2 s, the shortest time for which opening a lease waits.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	_, err := flakeid.OpenLease(context.Background(), "http://:token@127.0.0.1:1", flakeid.WithMaxWait(0))
	code(t, flakeid.ErrStoreUnavailable, err)
}

func TestNeverReuse(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), store(t)
	for start := 0; start < 2; start++ {
		generator, err := flakeid.OpenLease(ctx, url, flakeid.WithNeverReuse(), flakeid.WithNodeRange(7, 7),
			flakeid.WithMaxWait(0))
		if start == 1 {
			code(t, flakeid.ErrNoFreeNode, err)
		} else if err != nil || generator.Close() != nil {
			t.Fatal(err)
		}
	}
}

// TestCancel ends the wait for a broker that never responds. The slim library has brokers, but no other servers.
func TestCancel(t *testing.T) {
	silent := must[net.Listener](t, nil)(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	url := "http://:token@" + silent.Addr().String()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	generator, err := flakeid.OpenLease(ctx, url, flakeid.WithMaxWait(time.Minute))
	if generator != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(generator, err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Fatalf("it took %v", took)
	}
	_, err = flakeid.OpenLease(ctx, store(t))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

// TestCancelledLateLease checks that a node granted after the wait ended is released.
func TestCancelledLateLease(t *testing.T) {
	t.Parallel()
	url := store(t)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Microsecond)
		generator, err := flakeid.OpenLease(ctx, url, flakeid.WithNode(6), flakeid.WithTTL(time.Hour))
		cancel()
		if err == nil { // the grant arrived first
			generator.Close()
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if !strings.Contains(err.Error(), "was requested") {
			break
		}
	}
	time.Sleep(200 * time.Millisecond) // so that it has been granted
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		generator, err := flakeid.OpenLease(context.Background(), url, flakeid.WithNodeRange(6, 6),
			flakeid.WithMaxWait(0), flakeid.WithEvents(func(flakeid.LeaseEvent) {}))
		if err == nil {
			generator.Close()
			return
		}
		code(t, flakeid.ErrNoFreeNode, err)
		if time.Since(start) > 20*time.Second {
			t.Fatal("the node was not released")
		}
	}
}

// TestEvents closes the generator in the function that receives its events.
func TestEvents(t *testing.T) {
	told := make(chan flakeid.LeaseEvent, 16)
	opened := make(chan *flakeid.Generator, 1)
	generator := must[*flakeid.Generator](t, nil)(flakeid.OpenLease(context.Background(), store(t),
		flakeid.WithNode(3), flakeid.WithEvents(func(event flakeid.LeaseEvent) {
			if event.Kind == flakeid.LeaseAcquired {
				if err := (<-opened).Close(); err != nil {
					t.Error(err)
				}
			}
			told <- event
		})))
	opened <- generator
	acquired := <-told
	same(t, nil, acquired.Kind, flakeid.LeaseAcquired)
	same(t, nil, acquired.Node, 3)
	if acquired.Fence <= acquired.Start || acquired.Err != nil {
		t.Fatal(acquired)
	}
	for released := range told {
		if released.Err != nil {
			t.Fatal(released)
		}
		if released.Kind == flakeid.LeaseReleased {
			same(t, nil, released.Node, 3)
			break
		}
	}
	_, err := generator.NextID()
	code(t, flakeid.ErrClosed, err)
}

func TestLeaseMessagesNameOptionsAsGoDoes(t *testing.T) {
	_, err := flakeid.OpenLease(context.Background(), "sqlite://never.db", flakeid.WithLeaseWindow(time.Millisecond))
	if want := "flakeid: WithLeaseWindow 1 ms is out of range: must be from 2 to 2592000000 ms"; err == nil || err.Error() != want {
		t.Fatalf("%v is not %q", err, want)
	}
}

// TestOpenLeaseWaits opens a lease while the store grants nothing.
func TestOpenLeaseWaits(t *testing.T) {
	ctx, url := context.Background(), store(t)
	must[time.Duration](t, nil)(flakeid.CreateNamespace(ctx, url, "late", flakeid.WithMaxWindow(time.Second),
		flakeid.WithMaxSkew(100*time.Millisecond), flakeid.WithQuiet(3*time.Second)))
	// Without this file, the store cannot exclude that it was restored.
	if err := os.Remove(strings.TrimPrefix(url, "sqlite://") + "-serial"); err != nil {
		t.Fatal(err)
	}
	options := []flakeid.LeaseOption{flakeid.WithNamespace("late"), flakeid.WithLeaseWindow(time.Second),
		flakeid.WithMaxWait(time.Millisecond)}
	_, err := flakeid.OpenLease(ctx, url, append(options, flakeid.WithOpenWait(0))...)
	code(t, flakeid.ErrFenceInFuture, err)
	generator := must[*flakeid.Generator](t, nil)(flakeid.OpenLease(ctx, url, options...))
	must[flakeid.ID](t, nil)(generator.NextID())
	generator.Close()
}

func TestCreateNamespace(t *testing.T) {
	ctx, url := context.Background(), store(t)
	sonyflake := flakeid.WithLayout(flakeid.MustParseLayout("sonyflake"))
	for range [2]int{} {
		wait, err := flakeid.CreateNamespace(ctx, url, "orders", sonyflake, flakeid.WithMaxWindow(time.Minute))
		same(t, nil, must[time.Duration](t, nil)(wait, err), 0)
	}
	generator := must[*flakeid.Generator](t, nil)(flakeid.OpenLease(ctx, url, sonyflake,
		flakeid.WithNamespace("orders"), flakeid.WithLeaseWindow(time.Minute)))
	generator.Close()
	type options = []flakeid.NamespaceOption
	for _, at := range []struct {
		code    flakeid.Code
		url     string
		name    string
		options options
	}{
		{flakeid.ErrInvalidOption, url, "orders", options{sonyflake, flakeid.WithMaxAhead(time.Second)}},
		{flakeid.ErrInvalidOption, url, "orders", options{sonyflake, flakeid.WithHistory(false)}},
		{flakeid.ErrStoreRejected, url, "orders", nil},
		{flakeid.ErrStoreRejected, url, "orders", options{sonyflake, flakeid.WithBlockBits(2)}},
		{flakeid.ErrFieldOutOfRange, url, "other", options{flakeid.WithQuiet(time.Second)}},
		{flakeid.ErrFieldOutOfRange, url, "other", options{flakeid.WithMaxSkew(-1)}},
		{flakeid.ErrInvalidOption, url, "no such", nil},
		{flakeid.ErrInvalidOption, url, "a\x00b", nil},
		{flakeid.ErrInvalidOption, "", "orders", nil},
		{flakeid.ErrStoreRejected, "http://127.0.0.1:1", "orders", nil},
	} {
		_, err := flakeid.CreateNamespace(ctx, at.url, at.name, at.options...)
		code(t, at.code, err)
	}
	_, err := flakeid.CreateNamespace(ctx, url, "orders", sonyflake, flakeid.WithMaxWindow(time.Second))
	if err == nil || !strings.Contains(err.Error(), "WithMaxWindow: is 1000 ms, but namespace") {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := flakeid.CreateNamespace(ended, url, "orders"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
