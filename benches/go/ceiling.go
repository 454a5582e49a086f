package main

import (
	"sort"
	"sync"
	"syscall"
	"time"

	"github.com/flakeid/flakeid/go"
	"github.com/sony/sonyflake"
)

// ceiling measures a generator of 12 sequence bits, or of its fixed layout, that issues IDs as fast as it can.
type ceiling struct {
	label string
	// ours marks the row of the target.
	ours       bool
	goroutines int
	// most is the layout's maximum rate in IDs per second; 0 for generators that borrow.
	most float64
	// fill writes IDs and returns their number. Each goroutine has its own.
	fill func() func([]uint64) int

	idsPerSecond, cpu float64
	twice, falling    int
}

func atTheCeiling(second time.Duration) []*ceiling {
	single := func(next func() uint64) func() func([]uint64) int {
		return func() func([]uint64) int { return func(ids []uint64) int { ids[0] = next(); return 1 } }
	}
	generator := func(node uint64) *flakeid.Generator { return must(flakeid.New(flakeid.WithNode(node))) }
	next := func(node uint64) func() func([]uint64) int {
		of := generator(node)
		return single(func() uint64 { return uint64(must(of.NextID())) })
	}
	appended := func(node uint64) func() func([]uint64) int {
		of := generator(node)
		return func() func([]uint64) int {
			batch := make([]flakeid.ID, 0, 256)
			return func(ids []uint64) int {
				n := min(256, len(ids))
				for index, id := range must(of.AppendIDs(batch, n)) {
					ids[index] = uint64(id)
				}
				return n
			}
		}
	}
	buffers := func(node uint64) func() func([]uint64) int {
		of := generator(node)
		return func() func([]uint64) int {
			buffer := must(of.Buffered(256, 10*time.Millisecond))
			return single(func() uint64 { return uint64(must(buffer.NextID())) })()
		}
	}
	rival, drifting := newBwmarrin(12), newYitter(12)
	sony := sonyflake.NewSonyflake(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
	generate := single(func() uint64 { return uint64(rival.Generate()) })
	newLong := single(func() uint64 { return uint64(drifting.NewLong()) })
	nextOfSony := single(func() uint64 { return must(sony.NextID()) })
	sonyTwo := newSonyflakeTwo(12)
	nextOfSonyTwo := single(func() uint64 { return uint64(must(sonyTwo.NextID())) })
	const most = 4096e3
	all := []*ceiling{
		{label: "**flakeid** `NextID`", ours: true, goroutines: 1, most: most, fill: next(1)},
		{label: "**flakeid** `NextID`", ours: true, goroutines: 8, most: most, fill: next(2)},
		{label: "**flakeid** `AppendIDs` of 256", ours: true, goroutines: 1, most: most, fill: appended(3)},
		{label: "**flakeid** `AppendIDs` of 256", ours: true, goroutines: 8, most: most, fill: appended(4)},
		{label: "**flakeid** `Buffered(256, 10 ms)`", ours: true, goroutines: 1, most: most, fill: buffers(5)},
		{label: "**flakeid** `Buffered(256, 10 ms)`", ours: true, goroutines: 8, most: most, fill: buffers(6)},
		{label: "bwmarrin/snowflake `Generate`", goroutines: 1, most: most, fill: generate},
		{label: "bwmarrin/snowflake `Generate`", goroutines: 8, most: most, fill: generate},
		{label: "yitter `NewLong` (borrows from later ticks)", goroutines: 1, fill: newLong},
		{label: "yitter `NewLong` (borrows from later ticks)", goroutines: 8, fill: newLong},
		{label: "sonyflake 1 `NextID` (25,600 a second)", goroutines: 1, most: 25600, fill: nextOfSony},
		{label: "sonyflake 1 `NextID` (25,600 a second)", goroutines: 8, most: 25600, fill: nextOfSony},
		{label: "sonyflake 2 `NextID`", goroutines: 1, most: most, fill: nextOfSonyTwo},
		{label: "sonyflake 2 `NextID`", goroutines: 8, most: most, fill: nextOfSonyTwo},
	}
	for _, row := range all {
		row.measure(second)
	}
	return all
}

// room is the capacity for the IDs of a second, including borrowed ones.
const room = 40_000_000

func (c *ceiling) measure(second time.Duration) {
	ids := make([]uint64, room)
	share := room / c.goroutines
	counts := make([]int, c.goroutines)
	// Touches all pages before the time is taken.
	for index := range ids {
		ids[index] = 1
	}
	var all sync.WaitGroup
	before, start := processorTime(), time.Now()
	for worker := range counts {
		all.Add(1)
		go func(mine []uint64) {
			defer all.Done()
			fill := c.fill()
			for turn := 0; counts[worker] < share && (turn%16 != 0 || time.Since(start) < second); turn++ {
				counts[worker] += fill(mine[counts[worker]:])
			}
		}(ids[worker*share : (worker+1)*share])
	}
	all.Wait()
	took := time.Since(start).Seconds()
	c.cpu = (processorTime() - before) / took
	made := ids[:0]
	for worker, count := range counts {
		mine := ids[worker*share:][:count]
		for index := 1; index < count; index++ {
			if mine[index-1] >= mine[index] {
				c.falling++
			}
		}
		made = append(made, mine...)
	}
	c.idsPerSecond = float64(len(made)) / took
	sort.Slice(made, func(a, b int) bool { return made[a] < made[b] })
	for index := 1; index < len(made); index++ {
		if made[index-1] == made[index] {
			c.twice++
		}
	}
}

// processorTime returns the CPU time of the process in seconds.
func processorTime() float64 {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
