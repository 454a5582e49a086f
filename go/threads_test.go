package flakeid_test

import (
	"errors"
	"runtime"
	"runtime/pprof"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

// TestGoroutines generates IDs with every method from several goroutines of one generator, and none is repeated.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, share, run = 6, 400_000, 1000
	generator := must[*flakeid.Generator](t, nil)(
		flakeid.New(flakeid.WithNode(5), flakeid.WithMaxWait(time.Minute)))
	buffered := func() func() (flakeid.ID, error) {
		return must[*flakeid.Buffered](t, nil)(generator.Buffered(64, 10*time.Millisecond)).NextID
	}
	single := func(next func() (flakeid.ID, error)) func([]flakeid.ID) ([]flakeid.ID, error) {
		return func(ids []flakeid.ID) ([]flakeid.ID, error) {
			id, err := next()
			return append(ids, id), err
		}
	}
	batch := func(ids []flakeid.ID) ([]flakeid.ID, error) { return generator.AppendIDs(ids, run) }
	ids := make([]flakeid.ID, goroutines*share)
	var all sync.WaitGroup
	for worker := 0; worker < goroutines; worker++ {
		more := [3]func([]flakeid.ID) ([]flakeid.ID, error){
			single(generator.NextID), single(buffered()), batch,
		}[worker%3]
		mine := ids[worker*share : worker*share : (worker+1)*share]
		all.Add(1)
		go func() {
			defer all.Done()
			var err error
			for len(mine) < share && err == nil {
				mine, err = more(mine)
			}
			if err != nil {
				t.Error(err)
			}
			for index := 1; index < len(mine); index++ {
				if mine[index-1] >= mine[index] {
					t.Error("out of order within a goroutine")
					return
				}
			}
		}()
	}
	all.Wait()
	sort.Slice(ids, func(a, b int) bool { return ids[a] < ids[b] })
	for index := 1; index < len(ids); index++ {
		if ids[index-1] == ids[index] {
			t.Fatalf("%d was issued twice", ids[index])
		}
	}
}

// TestManyWait lets thousands of calls wait: all get their IDs, without thousands of threads.
func TestManyWait(t *testing.T) {
	t.Parallel()
	generator := must[*flakeid.Generator](t, nil)(
		flakeid.New(flakeid.WithNode(6), flakeid.WithSequenceMask(31), flakeid.WithMaxWait(time.Minute)))
	const callers = 3000
	failures := make(chan error, callers)
	for caller := 0; caller < callers; caller++ {
		go func() {
			_, err := generator.NextID()
			failures <- err
		}()
	}
	for caller := 0; caller < callers; caller++ {
		if err := <-failures; err != nil {
			t.Fatal(err)
		}
	}
	if threads := pprof.Lookup("threadcreate").Count(); threads > 200 {
		t.Fatalf("it took %d threads", threads)
	}
}

// TestLongestWait lets more calls wait than get IDs in time: each call waits for its timeout, even if another call
// timed out before.
func TestLongestWait(t *testing.T) {
	t.Parallel()
	const maxWait, callers = 250 * time.Millisecond, 40
	layout := must[flakeid.Layout](t, nil)(flakeid.ParseLayout("t40.n10.s1@1577836800000/100ms"))
	generator := must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithLayout(layout), flakeid.WithNode(3),
		flakeid.WithSequenceMask(0), flakeid.WithMaxWait(maxWait)))
	type result struct {
		err  error
		took time.Duration
	}
	results := make(chan result, callers)
	for caller := 0; caller < callers; caller++ {
		go func() {
			start := time.Now()
			_, err := generator.NextID()
			results <- result{err, time.Since(start)}
		}()
		time.Sleep(5 * time.Millisecond)
	}
	made := 0
	for caller := 0; caller < callers; caller++ {
		result := <-results
		switch {
		case result.err == nil:
			made++
		case !errors.Is(result.err, flakeid.ErrSequenceExhausted):
			t.Error(result.err)
		case result.took < maxWait:
			t.Errorf("failed after %v", result.took)
		}
		if result.took > 8*maxWait {
			t.Errorf("took %v", result.took)
		}
	}
	if made == 0 {
		t.Error("no call got an ID")
	}
}

// TestCloseMeanwhile closes a generator while goroutines use it, and lets the garbage collector free it.
func TestCloseMeanwhile(t *testing.T) {
	for round := 0; round < 20; round++ {
		generator := must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithNode(9)))
		var all sync.WaitGroup
		for worker := 0; worker < 3; worker++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					if _, err := generator.NextID(); err != nil {
						if !errors.Is(err, flakeid.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			}()
		}
		time.Sleep(time.Millisecond)
		for range [2]int{} {
			if err := generator.Close(); err != nil {
				t.Fatal(err)
			}
		}
		all.Wait()
		runtime.GC()
	}
}
