package main

import (
	"context"
	"fmt"
	"sort"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/flakeid/flakeid/go"
	"github.com/sony/sonyflake"
	sonyflake2 "github.com/sony/sonyflake/v2"
	"github.com/yitter/idgenerator-go/idgen"
)

// row is one way to generate IDs.
type row struct {
	table, label, role string
	// ids is the number of IDs per call.
	ids  int
	loop func(calls int)
	// floor is the row with which its cost is compared.
	floor   *row
	calls   int
	samples []float64
}

// costs returns the rows of the cost of one ID. No tick fills up.
type costs struct {
	floor, bound, next, gated, buffered, batch, rival *row
	others                                            []*row
}

func (c *costs) all() []*row {
	return append([]*row{c.floor, c.bound, c.next, c.gated, c.buffered, c.batch, c.rival}, c.others...)
}

var sink uint64

// largeTicks is a layout whose ticks do not fill up, even by batches.
var largeTicks = flakeid.MustParseLayout(
	fmt.Sprintf("t37.n3.s23@%d/1ms", time.Now().UnixMilli()-1000))

const one, many = "One ID", "Many by one call"

func newCosts(store string) *costs {
	wide := func(node uint64, options ...flakeid.Option) *flakeid.Generator {
		options = append(options, flakeid.WithLayout(largeTicks), flakeid.WithNode(node))
		return must(flakeid.New(options...))
	}
	single := func(label, role string, generator *flakeid.Generator) *row {
		return &row{table: one, label: label, role: role, ids: 1, loop: func(calls int) {
			for ; calls > 0; calls-- {
				id, err := generator.NextID()
				if err != nil {
					panic(err)
				}
				sink += uint64(id)
			}
		}}
	}
	leased := must(flakeid.OpenLease(context.Background(), store, flakeid.WithLayout(largeTicks)))
	gated := wide(2, flakeid.WithClock("gated"))
	c := &costs{
		floor:    &row{table: one, label: "F: clock to ms, then one CAS", role: "floor", ids: 1, loop: floor()},
		bound:    bound(),
		next:     single("**flakeid** `NextID`", "ours", wide(1)),
		gated:    single("**flakeid** `NextID`, `WithClock(\"gated\")`", "ours", gated),
		buffered: buffered(wide(3)),
		batch:    batch(wide(4), 256),
		rival:    bwmarrin(),
	}
	c.others = []*row{
		single("**flakeid** `NextID`, leased on SQLite", "ours", leased),
		single("**flakeid** `NextID`, `WithClock(\"coarse\")`", "ours", wide(5, flakeid.WithClock("coarse"))),
		sonyflakeInTurn(), sonyflakeTwo(), yitter(),
		{table: one, label: "an empty call through cgo", ids: 1, loop: func(calls int) {
			for ; calls > 0; calls-- {
				sink = intoC(sink)
			}
		}},
		{table: one, label: "`time.Now().UnixMilli()`", ids: 1, loop: func(calls int) {
			for ; calls > 0; calls-- {
				sink += uint64(time.Now().UnixMilli())
			}
		}},
		batch(wide(6), 1000), batch(wide(7), 1_000_000),
	}
	for _, row := range c.all() {
		row.floor = c.floor
	}
	return c
}

func floor() func(int) {
	var last atomic.Int64
	return func(calls int) {
		for ; calls > 0; calls-- {
			now := time.Now().UnixMilli()
			for {
				before := last.Load()
				if last.CompareAndSwap(before, now<<22|(before+1)&(1<<22-1)) {
					break
				}
			}
		}
		sink += uint64(last.Load())
	}
}

func bound() *row {
	label := "a call through cgo that reads the counter and swaps a word: the bound"
	return &row{table: one, label: label, ids: 1, loop: func(calls int) {
		for ; calls > 0; calls-- {
			sink += counted()
		}
	}}
}

func buffered(generator *flakeid.Generator) *row {
	buffer := must(generator.Buffered(256, 10*time.Millisecond))
	label := "**flakeid** `Buffered(256, 10 ms)`"
	return &row{table: one, label: label, role: "ours", ids: 1, loop: func(calls int) {
		for ; calls > 0; calls-- {
			id, err := buffer.NextID()
			if err != nil {
				panic(err)
			}
			sink += uint64(id)
		}
	}}
}

func batch(generator *flakeid.Generator, size int) *row {
	ids := make([]flakeid.ID, 0, size)
	label := "**flakeid** `AppendIDs` of " + thousands(size)
	return &row{table: many, label: label, ids: size, loop: func(calls int) {
		for ; calls > 0; calls-- {
			made, err := generator.AppendIDs(ids[:0], size)
			if err != nil {
				panic(err)
			}
			sink += uint64(made[size-1])
		}
	}}
}

func bwmarrin() *row {
	node := newBwmarrin(21)
	label := "bwmarrin/snowflake `Generate`"
	return &row{table: one, label: label, role: "rival", ids: 1, loop: func(calls int) {
		for ; calls > 0; calls-- {
			sink += uint64(node.Generate())
		}
	}}
}

// newBwmarrin returns a node with the given number of sequence bits. The widths are global variables.
func newBwmarrin(steps uint8) *snowflake.Node {
	snowflake.NodeBits, snowflake.StepBits = 22-steps, steps
	return must(snowflake.NewNode(1))
}

// sonyflakeInTurn returns generators of version 1, which issues 256 IDs in 10 ms. Many generators take turns, so that
// the call is measured and not the wait.
func sonyflakeInTurn() *row {
	generators := make([]*sonyflake.Sonyflake, 4096)
	for machine := range generators {
		machine := uint16(machine)
		generators[machine] = sonyflake.NewSonyflake(sonyflake.Settings{
			MachineID: func() (uint16, error) { return machine, nil },
		})
	}
	turn := 0
	label := "sonyflake 1 `NextID` (4096 in turn)"
	return &row{table: one, label: label, role: "rival", ids: 1, loop: func(calls int) {
		for ; calls > 0; calls-- {
			turn++
			id, err := generators[turn>>7&4095].NextID()
			if err != nil {
				panic(err)
			}
			sink += id
		}
	}}
}

func sonyflakeTwo() *row {
	generator := newSonyflakeTwo(23)
	label := "sonyflake 2 `NextID`"
	return &row{table: one, label: label, role: "rival", ids: 1, loop: func(calls int) {
		for ; calls > 0; calls-- {
			id, err := generator.NextID()
			if err != nil {
				panic(err)
			}
			sink += uint64(id)
		}
	}}
}

// newSonyflakeTwo returns a generator with the given number of sequence bits and ticks of a millisecond.
func newSonyflakeTwo(sequence int) *sonyflake2.Sonyflake {
	return must(sonyflake2.New(sonyflake2.Settings{
		BitsSequence: sequence, BitsMachineID: 26 - sequence, TimeUnit: time.Millisecond,
		MachineID: func() (int, error) { return 1, nil },
	}))
}

func yitter() *row {
	generator := newYitter(21)
	label := "yitter `NewLong`"
	return &row{table: one, label: label, role: "rival", ids: 1, loop: func(calls int) {
		for ; calls > 0; calls-- {
			sink += uint64(generator.NewLong())
		}
	}}
}

func newYitter(sequence byte) *idgen.DefaultIdGenerator {
	options := idgen.NewIdGeneratorOptions(1)
	options.WorkerIdBitLength, options.SeqBitLength = 22-sequence, sequence
	return idgen.NewDefaultIdGenerator(options)
}

// sample measures each row once per round. Each round begins with another row.
func sample(rows []*row, plan plan) {
	for _, row := range rows {
		// The fastest of three, because an interruption would end the calibration too early.
		for row.calls = 1; ; row.calls *= 2 {
			times := []float64{row.time(), row.time(), row.time()}
			sort.Float64s(times)
			if times[0]*float64(row.calls*row.ids) >= float64(plan.round) {
				break
			}
		}
	}
	for round := 0; round < plan.rounds; round++ {
		for offset := range rows {
			row := rows[(round+offset)%len(rows)]
			row.samples = append(row.samples, row.time())
		}
	}
}

// time returns the cost of an ID in nanoseconds.
func (r *row) time() float64 {
	start := time.Now()
	r.loop(r.calls)
	return float64(time.Since(start)) / float64(r.calls*r.ids)
}
