//go:build !cgo || flakeid_pure || !(flakeid_shared || flakeid_static || (linux && (amd64 || arm64)))

package flakeid

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const token = "secret-of-the-test"

// testBroker is a process of the command that serves leases with short windows.
type testBroker struct {
	t       *testing.T
	folder  string
	process *exec.Cmd
	url     string
	address string
}

func startBroker(t *testing.T) *testBroker {
	made := &testBroker{t: t, folder: t.TempDir()}
	if err := os.WriteFile(filepath.Join(made.folder, "tokens"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	made.run("127.0.0.1:0")
	t.Cleanup(made.kill)
	return made
}

func (b *testBroker) run(address string) {
	command := os.Getenv("FLAKEID_COMMAND")
	if command == "" {
		command = "../target/debug/flakeid"
	}
	if _, err := os.Stat(command); err != nil {
		b.t.Fatalf("FLAKEID_COMMAND: %v; run `cargo xtask go`, which builds the command", err)
	}
	b.process = exec.Command(command, "serve", "--store", "sqlite://"+b.folder+"/leases.db", "--listen", address,
		"--token-file", filepath.Join(b.folder, "tokens"), "--lease-window", "1s", "--no-ids")
	b.process.Stderr = os.Stderr
	output, err := b.process.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.process.Start(); err != nil {
		b.t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	address, isURL := strings.CutPrefix(strings.TrimSpace(line), "http://")
	if err != nil || !isURL {
		b.t.Fatalf("flakeid serve: %q, %v", line, err)
	}
	b.address, b.url = address, "http://:"+token+"@"+address
}

func (b *testBroker) kill() {
	_ = b.process.Process.Kill()
	_ = b.process.Wait()
}

func opened(t *testing.T, url string, options ...LeaseOption) *Generator {
	t.Helper()
	generator, err := OpenLease(context.Background(), url, options...)
	if err != nil {
		t.Fatal(err)
	}
	return generator
}

// TestLeaseFromBrokerIssuesUniqueIDs takes IDs from two leases in several goroutines for some windows.
func TestLeaseFromBrokerIssuesUniqueIDs(t *testing.T) {
	broker := startBroker(t)
	generators := []*Generator{opened(t, broker.url, WithLeaseWindow(time.Second)), opened(t, broker.url)}
	var mutex sync.Mutex
	seen := map[ID]bool{}
	var all sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for worker := 0; worker < 4; worker++ {
		generator := generators[worker%2]
		all.Add(1)
		go func() {
			defer all.Done()
			var last ID
			for time.Now().Before(end) {
				id, err := generator.NextID()
				if err != nil || id <= last {
					t.Errorf("%d after %d: %v", id, last, err)
					return
				}
				last = id
				mutex.Lock()
				if seen[id] {
					t.Errorf("%d was issued twice", id)
				}
				seen[id] = true
				mutex.Unlock()
			}
		}()
	}
	all.Wait()
	for _, generator := range generators {
		status, err := generator.Lease()
		if err != nil || status.Renewals == 0 || status.Grants != 1 || status.LastError != nil {
			t.Fatal(status, err)
		}
		if generator.fast.Load() == nil {
			t.Fatal("the lease has no fast path")
		}
		if err := generator.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := generator.NextID(); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	}
	if len(seen) < 10_000 {
		t.Fatalf("only %d IDs", len(seen))
	}
}

// TestReleasedNodeIsLeasedAgain leases the same node twice. No ID of the first lease is repeated.
func TestReleasedNodeIsLeasedAgain(t *testing.T) {
	broker := startBroker(t)
	last := ID(0)
	var nodes []uint64
	for round := 0; round < 3; round++ {
		generator := opened(t, broker.url, WithName("worker"))
		node, err := generator.Node()
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node)
		ids, err := generator.AppendIDs(nil, 5000)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if id <= last {
				t.Fatalf("%d after %d", id, last)
			}
			last = id
		}
		if err := generator.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if nodes[0] != nodes[1] || nodes[1] != nodes[2] {
		t.Fatalf("nodes %v", nodes)
	}
}

// TestLeaseEndsWhileTheBrokerIsDownAndContinuesAfterwards kills the broker and starts it again.
func TestLeaseEndsWhileTheBrokerIsDownAndContinuesAfterwards(t *testing.T) {
	broker := startBroker(t)
	events := make(chan EventKind, 1000)
	generator := opened(t, broker.url, WithLeaseWindow(time.Second), WithMaxWait(500*time.Millisecond),
		WithEvents(func(event LeaseEvent) { events <- event.Kind }))
	defer generator.Close()
	broker.kill()
	var last ID
	failed := error(nil)
	for end := time.Now().Add(10 * time.Second); failed == nil && time.Now().Before(end); {
		var id ID
		if id, failed = generator.NextID(); failed == nil {
			last = id
		}
	}
	if !errors.Is(failed, ErrLeaseExpired) && !errors.Is(failed, ErrStoreUnavailable) {
		t.Fatal(failed)
	}
	broker.run(broker.address)
	for end := time.Now().Add(30 * time.Second); ; {
		id, err := generator.NextID()
		if err == nil {
			if id <= last {
				t.Fatalf("%d after %d", id, last)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	kinds := map[EventKind]bool{}
	for len(events) > 0 {
		kinds[<-events] = true
	}
	if !kinds[LeaseAcquired] || !kinds[LeaseStoreLost] {
		t.Fatal(kinds)
	}
}

// TestUnclosedLeaseIsCollected drops a generator. Its keeper releases the node.
func TestUnclosedLeaseIsCollected(t *testing.T) {
	broker := startBroker(t)
	released := make(chan struct{}, 1)
	func() {
		generator := opened(t, broker.url)
		if _, err := generator.NextID(); err != nil {
			t.Fatal(err)
		}
		keeper := generator.native.keeper
		go func() { <-keeper.done; released <- struct{}{} }()
	}()
	collect(t, released)
}

func collect(t *testing.T, released chan struct{}) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		runtime.GC()
		select {
		case <-released:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("the generator was not collected")
}

func TestLeasesWithoutCgoRejectOtherStores(t *testing.T) {
	for _, url := range []string{"", "sqlite:///ids.db", "postgresql://user:password@host/db"} {
		_, err := OpenLease(context.Background(), url)
		if !errors.Is(err, ErrInvalidOption) || !strings.Contains(err.Error(), "without cgo") ||
			strings.Contains(err.Error(), "password") {
			t.Fatal(err)
		}
	}
	for _, at := range []struct {
		url    string
		option LeaseOption
		said   string
	}{
		{"http://127.0.0.1:1", WithNode(5), `no option "node"`},
		{"http://127.0.0.1:1", WithNeverReuse(), `no option "reuse"`},
		{"http://127.0.0.1:1", WithLeaseWindow(0), "WithLeaseWindow"},
		{"http://", nil, ""},
	} {
		var options []LeaseOption
		if at.option != nil {
			options = append(options, at.option)
		}
		_, err := OpenLease(context.Background(), at.url, options...)
		if err == nil || !strings.Contains(err.Error(), at.said) {
			t.Fatalf("%v does not contain %q", err, at.said)
		}
	}
	_, err := OpenLease(context.Background(), "http://127.0.0.1:1", WithMaxWait(0))
	if !errors.Is(err, ErrStoreUnavailable) {
		t.Fatal(err)
	}
}
