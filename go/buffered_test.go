package flakeid_test

import (
	"errors"
	"reflect"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

func newBuffered(t *testing.T, node uint64, size int, maxAge time.Duration) *flakeid.Buffered {
	t.Helper()
	generator := must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithNode(node)))
	return must[*flakeid.Buffered](t, nil)(generator.Buffered(size, maxAge))
}

// age returns the time since the start of the tick of the next ID.
func age(t *testing.T, buffered *flakeid.Buffered) time.Duration {
	t.Helper()
	before := time.Now()
	id := must[flakeid.ID](t, nil)(buffered.NextID())
	return before.Sub(must[time.Time](t, nil)(id.Time(flakeid.Layout{})))
}

// TestBufferedAge pauses at every number of remaining IDs, and gets none that is too old.
func TestBufferedAge(t *testing.T) {
	const maxAge = 20 * time.Millisecond
	buffered := newBuffered(t, 11, 100, maxAge)
	for stop := 1; stop < 60; stop += 7 {
		for range make([]int, 4*stop) {
			must[flakeid.ID](t, nil)(buffered.NextID())
		}
		time.Sleep(maxAge + 5*time.Millisecond)
		// On a busy machine both timers can end together, in any order.
		time.Sleep(time.Millisecond)
		if age := age(t, buffered); age > maxAge {
			t.Fatalf("after %d IDs, one is %v old", 4*stop, age)
		}
	}
}

// TestBufferedClock takes IDs without yielding the processor, so that no timer runs.
func TestBufferedClock(t *testing.T) {
	const maxAge, tick = 2 * time.Millisecond, time.Millisecond
	buffered := newBuffered(t, 12, 1<<20, maxAge)
	late := 0
	for start := time.Now(); time.Since(start) < 100*time.Millisecond; {
		if age(t, buffered) <= maxAge+tick {
			late = 0
			continue
		}
		// After an interruption of this goroutine, the buffer reads the clock at the 64th ID.
		if late++; late > 63 {
			t.Fatalf("%d IDs in a row were too old", late)
		}
	}
}

// TestBufferedShared takes IDs of one buffer and of a copy of it from several goroutines, and none is repeated.
func TestBufferedShared(t *testing.T) {
	t.Parallel()
	const goroutines, share = 4, 200_000
	buffered := newBuffered(t, 14, 64, time.Second)
	again := reflect.New(reflect.TypeOf(buffered).Elem())
	again.Elem().Set(reflect.ValueOf(buffered).Elem()) // copies the buffer, which go vet reports
	copied := again.Interface().(*flakeid.Buffered)
	seen := make([]flakeid.ID, goroutines*share)
	var all sync.WaitGroup
	for worker := 0; worker < goroutines; worker++ {
		mine, from := seen[worker*share:(worker+1)*share], buffered
		if worker == 0 {
			from = copied
		}
		all.Add(1)
		go func() {
			defer all.Done()
			for index := range mine {
				id, err := from.NextID()
				if err != nil {
					t.Error(err)
					return
				}
				mine[index] = id
			}
		}()
	}
	all.Wait()
	sort.Slice(seen, func(a, b int) bool { return seen[a] < seen[b] })
	for index := 1; index < len(seen); index++ {
		if seen[index] == seen[index-1] {
			t.Fatalf("%d was issued twice", seen[index])
		}
	}
}

// TestBufferedBatches checks that a buffer requests at most twice as many IDs as are used.
func TestBufferedBatches(t *testing.T) {
	clock := flakeid.NewManualClock(instant)
	generator := must[*flakeid.Generator](t, nil)(
		flakeid.New(flakeid.WithNode(13), flakeid.WithManualClock(clock)))
	buffered := must[*flakeid.Buffered](t, nil)(generator.Buffered(100, time.Hour))
	same(t, nil, buffered.Generator(), generator)
	first := must[flakeid.ID](t, nil)(buffered.NextID())
	for used := flakeid.ID(1); used < 1000; used++ {
		same(t, nil, must[flakeid.ID](t, nil)(buffered.NextID()), first+used)
	}
	// 1 + 2 + 4 + ... + 64 = 127, then 9 times 100, of which 27 are left.
	same(t, nil, must[flakeid.ID](t, nil)(generator.NextID()), first+1027)

	short := must[*flakeid.Buffered](t, nil)(generator.Buffered(100, time.Millisecond))
	for range [4]int{} { // of 1 and 2 and 4, of which 3 are left
		must[flakeid.ID](t, nil)(short.NextID())
	}
	time.Sleep(10 * time.Millisecond)
	same(t, nil, must[flakeid.ID](t, nil)(short.NextID()), first+1028+7)
	same(t, nil, must[flakeid.ID](t, nil)(generator.NextID()), first+1028+8)
}

func TestBufferedErrors(t *testing.T) {
	buffered := newBuffered(t, 14, 4, time.Hour)
	for range [4]int{} { // of 1 and 2 and 4, of which 3 are left
		must[flakeid.ID](t, nil)(buffered.NextID())
	}
	if err := buffered.Generator().Close(); err != nil {
		t.Fatal(err)
	}
	for range [3]int{} {
		must[flakeid.ID](t, nil)(buffered.NextID())
	}
	for range [2]int{} {
		_, err := buffered.NextID()
		code(t, flakeid.ErrClosed, err)
	}
}

// TestZeroValues checks that the calls of nil and zero values return errors.
func TestZeroValues(t *testing.T) {
	for _, buffered := range []*flakeid.Buffered{nil, {}} {
		_, err := buffered.NextID()
		if !errors.Is(err, flakeid.ErrNullArgument) || buffered.Generator() != nil {
			t.Error(err)
		}
	}
	for _, generator := range []*flakeid.Generator{nil, {}} {
		_, next := generator.NextID()
		_, try := generator.TryNextID()
		_, fill := generator.Fill(make([]flakeid.ID, 2))
		_, local := generator.Buffered(0, 0)
		_, node := generator.Node()
		for _, err := range []error{next, try, fill, local, node, generator.Close()} {
			if err == nil {
				t.Error("a zero generator works")
			}
		}
	}
}
