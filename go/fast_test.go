package flakeid

import (
	"context"
	"math/rand"
	"testing"
	"time"
)

// TestFastPathTakesTheIDsOfTheLibrary makes the same calls on two generators with their own words. One takes an ID by
// the fast path if that succeeds, the other always by the library. Both must take the same IDs.
func TestFastPathTakesTheIDsOfTheLibrary(t *testing.T) {
	random, fast := rand.New(rand.NewSource(7)), 0
	for round := 0; round < 200; round++ {
		name := []string{"twitter", "t40.n10.s3@1577836800000/1ms", "t40.n4.s2@1577836800000/7ms", "js-safe"}[round%4]
		layout := MustParseLayout(name)
		info := layout.Info()
		now := time.UnixMilli(1_780_000_000_000 + random.Int63n(1000))
		parts, err := layout.PartsAt(now)
		if err != nil {
			t.Fatal(err)
		}
		start := parts.Tick + uint64(random.Intn(5))
		fence := start + 2 + uint64(random.Intn(20))
		clock := NewManualClock(now)
		build := func() *Generator {
			options := []Option{WithLayout(layout), WithNode(3), WithManualClock(clock), WithWindow(start, fence),
				WithOverflow([]Overflow{OverflowWait, OverflowError, OverflowBorrow}[round%3]),
				WithRollback([]Rollback{RollbackContinue, RollbackError, RollbackWait}[round/3%3])}
			if round%5 == 0 {
				options = append(options, WithSequenceMask(1))
			}
			generator, err := New(options...)
			if err != nil {
				t.Fatal(err)
			}
			return generator
		}
		one, other := build(), build()
		path, _ := one.native.expose()
		for step := 0; step < 400; step++ {
			switch random.Intn(24) {
			case 0, 1, 2, 3:
				now = now.Add(time.Duration(random.Intn(int(info.Unit/time.Millisecond)*4)) * time.Millisecond)
			case 4:
				now = now.Add(-time.Duration(random.Intn(4)) * info.Unit)
			case 5:
				fence += uint64(random.Intn(40))
				if one.Extend(fence) != nil || other.Extend(fence) != nil {
					t.Fatal("not extended")
				}
			}
			clock.Set(now)
			id, taken := path.takeAt(now.UnixMilli())
			var failed error
			if taken {
				fast++
			} else {
				id, failed = one.TryNextID()
			}
			expected, expectedFailure := other.TryNextID()
			if id != expected || (failed == nil) != (expectedFailure == nil) {
				t.Fatalf("round %d, step %d: %d, %v instead of %d, %v", round, step, id, failed, expected, expectedFailure)
			}
		}
		if _, _, err := one.Retire(); err != nil {
			t.Fatal(err)
		}
		if id, taken := path.takeAt(now.UnixMilli()); taken {
			t.Fatalf("%d was taken after the generator was retired", id)
		}
	}
	if fast < 20_000 {
		t.Fatalf("the fast path took only %d of 80,000 IDs", fast)
	}
}

// TestFastPathServesTheDefaultOptions checks which generators have a fast path.
func TestFastPathServesTheDefaultOptions(t *testing.T) {
	split := MustParseLayout("t41.c2.n8.s12@1577836800000/1ms")
	for _, at := range []struct {
		options []Option
		has     bool
	}{
		{nil, true},
		{[]Option{WithClock("gated")}, true},
		{[]Option{WithClock("system")}, true},
		{[]Option{WithClock("coarse")}, false},
		{[]Option{WithSequenceStart(2)}, false},
		{[]Option{WithManualClock(NewManualClock(time.Now()))}, false},
		{[]Option{WithLayout(split)}, false},
		{[]Option{WithSequenceMask(15)}, true},
	} {
		generator, err := New(append([]Option{WithNode(13)}, at.options...)...)
		if err != nil {
			t.Fatal(err)
		}
		if has := generator.fast.Load() != nil; has != at.has {
			t.Fatalf("%v: %v", at.options, has)
		}
	}
	several, err := New(WithNodes(20, 21))
	if err != nil || several.fast.Load() != nil {
		t.Fatal(err)
	}
}

// TestGoroutinesMixFastAndSlowPaths takes IDs of one node by the fast path, by the library, in batches and from another
// generator of the node, while a tick has few IDs. No ID is issued twice.
func TestGoroutinesMixFastAndSlowPaths(t *testing.T) {
	const share = 20_000
	layout := MustParseLayout("t41.n12.s10@1577836800000/1ms")
	build := func() *Generator {
		generator, err := New(WithLayout(layout), WithNode(14), WithMaxWait(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return generator
	}
	one, other := build(), build()
	calls := []func() (ID, error){
		one.NextID, one.NextID, one.TryNextID, other.NextID,
		func() (ID, error) { return one.nextSlowly(context.Background()) },
		func() (ID, error) {
			ids, err := other.AppendIDs(nil, 1)
			if err != nil {
				return 0, err
			}
			return ids[0], nil
		},
	}
	results := make(chan []ID)
	for _, call := range calls {
		call := call
		go func() {
			ids := make([]ID, 0, share)
			for len(ids) < share {
				id, err := call()
				if failed, ok := err.(*Error); ok && failed.RetryAfter >= 0 {
					continue // TryNextID never waits
				} else if err != nil {
					t.Error(err)
					break
				}
				if len(ids) > 0 && id <= ids[len(ids)-1] {
					t.Errorf("%d came after %d", id, ids[len(ids)-1])
				}
				ids = append(ids, id)
			}
			results <- ids
		}()
	}
	seen := make(map[ID]bool, len(calls)*share)
	for range calls {
		for _, id := range <-results {
			if seen[id] {
				t.Fatalf("%d was issued twice", id)
			}
			seen[id] = true
		}
	}
}

// TestFastPathEndsWithTheGenerator closes one of two generators that share a word.
func TestFastPathEndsWithTheGenerator(t *testing.T) {
	one, _ := New(WithNode(15))
	other, err := New(WithNode(15))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.NextID(); err != nil {
		t.Fatal(err)
	}
	path := one.fast.Load()
	if path == nil || one.Close() != nil {
		t.Fatal("no fast path, or not closed")
	}
	if id, taken := path.take(); taken {
		t.Fatalf("%d was taken after Close", id)
	}
	one.renewFast()
	if one.fast.Load() != nil {
		t.Fatal("the fast path was renewed after Close")
	}
	if _, err := other.NextID(); err != nil {
		t.Fatal(err)
	}
}
