package clock

import (
	"sync"
	"testing"
	"time"
)

func TestGateReturnsTheMillisecondOfTheClock(t *testing.T) {
	var all sync.WaitGroup
	for range [2]int{} {
		all.Add(1)
		go func() {
			defer all.Done()
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
				before := time.Now().UnixMilli()
				now := UnixMilli()
				if after := time.Now().UnixMilli(); now < before || now > after {
					t.Errorf("read %d between %d and %d", now, before, after)
					return
				}
			}
		}()
	}
	all.Wait()
}

// machineOf returns instruments with a counter of 2 GHz that the test moves, and the function that moves them.
func machineOf(start time.Time) (instruments, func(counts uint64, by time.Duration)) {
	counter, now := uint64(1<<40), start
	move := func(counts uint64, by time.Duration) { counter, now = counter+counts, now.Add(by) }
	return instruments{func() uint64 { return counter }, func() time.Time { return now }}, move
}

// opened returns a gate that knows the rate of the counter.
func opened(t *testing.T, from instruments, move func(uint64, time.Duration)) *gate {
	g := &gate{}
	for round := 0; round < 3; round++ {
		if rate := g.rate; round < 2 && rate != 0 {
			t.Fatalf("the gate used the rate %d after %d measurements", rate, round)
		}
		move(40_000_000, 20*time.Millisecond)
		g.refresh(from)
	}
	if g.rate != 2_000_000/8*7 {
		t.Fatalf("the rate is %d", g.rate)
	}
	return g
}

func TestGateClosesBeforeTheMillisecondEnds(t *testing.T) {
	from, move := machineOf(time.UnixMilli(1_700_000_000_000))
	g := opened(t, from, move)
	if !g.isOpen(from.counter()) {
		t.Fatal("the gate did not open")
	}
	ms := g.ms.Load()
	for step := 0; step < 100; step++ {
		move(20_000, 10*time.Microsecond)
		if g.isOpen(from.counter()) && from.now().UnixMilli() != ms {
			t.Fatalf("the gate was open after %d steps", step)
		}
	}
	if g.isOpen(from.counter()) {
		t.Fatal("the gate never closed")
	}
}

func TestGateClosesWhenTheCounterIsSetBack(t *testing.T) {
	from, move := machineOf(time.UnixMilli(1_700_000_000_000))
	g := opened(t, from, move)
	move(^uint64(0)-10_000_000+1, 0)
	if g.isOpen(from.counter()) {
		t.Fatal("the gate stayed open")
	}
}

func TestGateIgnoresJumpOfTheCounter(t *testing.T) {
	from, move := machineOf(time.UnixMilli(1_700_000_000_000))
	g := opened(t, from, move)
	move(400_000_000, 20*time.Millisecond)
	g.refresh(from)
	if g.rate != 2_000_000/8*7 {
		t.Fatalf("the rate is %d after a jump", g.rate)
	}
}

func TestGateReadsTheClockWhileAnotherGoroutineRefreshesIt(t *testing.T) {
	from, move := machineOf(time.UnixMilli(1_700_000_000_000))
	g := opened(t, from, move)
	g.mutex.Lock()
	move(2_000_000_000, time.Second)
	if now := g.refresh(from); now != from.now().UnixMilli() {
		t.Fatalf("read %d", now)
	}
}
