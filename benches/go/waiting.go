package main

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flakeid/flakeid/go"
)

// wait holds the durations, in milliseconds and increasing order, of the calls for single IDs that waited at the
// maximum rate. Calls of less than 50 µs did not wait.
type wait struct {
	label      string
	ours       bool
	goroutines int
	// fills reports whether another goroutine requests 4,096 IDs at a time.
	fills bool
	times []float64
}

const shortest = 50 * time.Microsecond

func waitsAtTheCeiling(second time.Duration) (all []*wait) {
	const label = "**flakeid** `NextID`"
	for _, fills := range []bool{false, true} {
		for _, goroutines := range []int{2, 8} {
			row := &wait{label: label, ours: true, goroutines: goroutines, fills: fills}
			of := must(flakeid.New(flakeid.WithNode(uint64(100 + len(all)))))
			row.measure(second, func() { must(of.NextID()) }, func(ids []flakeid.ID) {
				must(of.AppendIDs(ids, 4096))
			})
			all = append(all, row)
		}
	}
	rival := newBwmarrin(12)
	for _, goroutines := range []int{2, 8} {
		row := &wait{label: "bwmarrin/snowflake `Generate`", goroutines: goroutines}
		row.measure(second, func() { rival.Generate() }, nil)
		all = append(all, row)
	}
	return all
}

func (w *wait) measure(second time.Duration, next func(), fill func([]flakeid.ID)) {
	var all sync.WaitGroup
	var stop atomic.Bool
	run := func(work func()) {
		all.Add(1)
		go func() {
			defer all.Done()
			work()
		}()
	}
	if w.fills {
		run(func() {
			for ids := make([]flakeid.ID, 0, 4096); !stop.Load(); {
				fill(ids)
			}
		})
	}
	waits := make([][]float64, w.goroutines)
	for worker := range waits {
		run(func() {
			for !stop.Load() {
				start := time.Now()
				next()
				if took := time.Since(start); took >= shortest {
					waits[worker] = append(waits[worker], float64(took)/float64(time.Millisecond))
				}
			}
		})
	}
	time.Sleep(second)
	stop.Store(true)
	all.Wait()
	for _, mine := range waits {
		w.times = append(w.times, mine...)
	}
	sort.Float64s(w.times)
}

// quantile returns a quantile of the waits, or 0 if no call waited.
func (w *wait) quantile(permille int) float64 {
	if len(w.times) == 0 {
		return 0
	}
	return w.times[(len(w.times)-1)*permille/1000]
}
