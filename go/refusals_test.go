package flakeid_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

// These tests pass invalid input that the types allow: every call is rejected with its code and changes nothing.

func code(t *testing.T, code flakeid.Code, err error) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("got %v, expected %v", err, code)
	}
	var failed *flakeid.Error
	if !errors.As(err, &failed) || len(err.Error()) < 10 || len(err.Error()) > 1000 {
		t.Fatalf("%v has the message %q", code, err)
	}
}

var instant = time.UnixMilli(1505914988849)

// kept returns a generator on a stopped clock, and a check that nothing has changed in it.
func kept(t *testing.T) (*flakeid.Generator, func()) {
	t.Helper()
	clock := flakeid.NewManualClock(instant)
	generator := must[*flakeid.Generator](t, nil)(
		flakeid.New(flakeid.WithNode(7), flakeid.WithManualClock(clock)))
	first := must[flakeid.ID](t, nil)(generator.NextID())
	return generator, func() {
		t.Helper()
		same(t, nil, must[flakeid.ID](t, nil)(generator.NextID()), first+1)
		same(t, nil, must[flakeid.Stats](t, nil)(generator.Stats()), flakeid.Stats{})
	}
}

func TestRefusedOptions(t *testing.T) {
	_, unchanged := kept(t)
	defer unchanged()
	type options = []flakeid.Option
	node, datacenter, worker := flakeid.WithNode(1), flakeid.WithDatacenter(1), flakeid.WithWorker(1)
	with := func(name string) flakeid.Option { return flakeid.WithLayout(layout(t, name)) }
	for _, at := range []struct {
		code    flakeid.Code
		options options
	}{
		{flakeid.ErrInvalidOption, options{}},
		{flakeid.ErrInvalidOption, options{datacenter}},
		{flakeid.ErrInvalidOption, options{worker}},
		{flakeid.ErrInvalidOption, options{node, worker}},
		{flakeid.ErrInvalidOption, options{node, datacenter, worker}},
		{flakeid.ErrInvalidOption, options{datacenter, worker, with("plain")}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithSequenceMask(4)}},
		{flakeid.ErrFieldOutOfRange, options{node, flakeid.WithSequenceStart(13)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithOverflow(3)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithOverflow(flakeid.OverflowBorrow)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithRollback(-1)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithRollback(flakeid.RollbackClockSequence)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithWindow(5, 5)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithClock("sundial")}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithClock("coarse\x00")}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithClock("coarse"),
			flakeid.WithManualClock(flakeid.NewManualClock(instant))}},
		{flakeid.ErrInvalidOption, options{flakeid.WithNodes()}},
		{flakeid.ErrInvalidOption, options{flakeid.WithNodes(1, 2, 3)}},
		{flakeid.ErrInvalidOption, options{flakeid.WithNodes(1, 1)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithNodes(1, 2)}},
		{flakeid.ErrFieldOutOfRange, options{flakeid.WithNode(1024)}},
		{flakeid.ErrFieldOutOfRange, options{flakeid.WithNode(math.MaxUint64)}},
		{flakeid.ErrFieldOutOfRange, options{flakeid.WithNode(64), with("js-safe")}},
		{flakeid.ErrFieldOutOfRange, options{flakeid.WithDatacenter(32), worker}},
		{flakeid.ErrFieldOutOfRange, options{datacenter, flakeid.WithWorker(32)}},
		{flakeid.ErrFieldOutOfRange, options{node, flakeid.WithMaxWait(-time.Second)}},
		{flakeid.ErrFieldOutOfRange, options{node, flakeid.WithMaxAhead(time.Microsecond)}},
		{flakeid.ErrFieldOutOfRange, options{node, flakeid.WithEpoch(instant.Add(1))}},
		{flakeid.ErrHorizonReached, options{node, with("baidu")}},
		{flakeid.ErrInvalidOption, options{node, nil}},
		{flakeid.ErrInvalidOption, options{node, flakeid.SharedOption(nil)}},
		{flakeid.ErrInvalidOption, options{node, flakeid.WithManualClock(nil)}},
	} {
		generator, err := flakeid.New(at.options...)
		code(t, at.code, err)
		if generator != nil {
			t.Fatal("the failed call returned a generator")
		}
	}
}

func TestMessagesNameOptionsAsGoDoes(t *testing.T) {
	type options []flakeid.Option
	node := flakeid.WithNode(1)
	for _, at := range []struct {
		message string
		options options
	}{
		{"WithNode 1024 is out of range: must be from 0 to 1023", options{flakeid.WithNode(1024)}},
		{"WithSequenceStart 13 is out of range: must be from 0 to 12", options{node, flakeid.WithSequenceStart(13)}},
		{"WithMaxWait -1s: must be whole milliseconds, from 0", options{node, flakeid.WithMaxWait(-time.Second)}},
		{"either `WithNode`, or `WithDatacenter` with `WithWorker`", options{node, flakeid.WithWorker(1)}},
		{"WithWindow: the range from 5 to 6 is too short", options{node, flakeid.WithWindow(5, 6)}},
		{"WithClock: must be system, coarse or gated", options{node, flakeid.WithClock("sundial")}},
	} {
		_, err := flakeid.New(at.options...)
		if err == nil || !strings.Contains(err.Error(), at.message) {
			t.Fatalf("%v does not contain %q", err, at.message)
		}
	}
}

func TestOptions(t *testing.T) {
	clock := flakeid.WithManualClock(flakeid.NewManualClock(instant))
	generator := must[*flakeid.Generator](t, nil)(flakeid.New(
		flakeid.WithDatacenter(3), flakeid.WithWorker(4), flakeid.WithEpoch(instant), clock))
	same(t, nil, must[uint64](t, nil)(generator.Node()), 3*32+4)
	same(t, nil, must[flakeid.ID](t, nil)(generator.NextID()), (3*32+4)<<12)
	of := must[flakeid.Layout](t, nil)(generator.Layout())
	same(t, nil, of.Info().Epoch, instant.UTC())
	several := must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithNodes(9, 8, 11, 10), clock))
	nodes := must[[]uint64](t, nil)(several.Nodes())
	same(t, nil, [4]uint64{nodes[0], nodes[1], nodes[2], nodes[3]}, [4]uint64{8, 9, 10, 11})
	same(t, nil, len(nodes), 4)
	many := make([]uint64, 128)
	for index := range many {
		many[index] = uint64(index)
	}
	several = must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithNodes(many...), clock))
	same(t, nil, len(must[[]uint64](t, nil)(several.Nodes())), 128)
}

// TestMisplacedURLs checks that errors show only the scheme of a URL, which may contain a password.
func TestMisplacedURLs(t *testing.T) {
	url := "postgresql://ada:s3cret@127.0.0.1:1/db"
	ctx := context.Background()
	_, layout := flakeid.ParseLayout(url)
	_, id := flakeid.Parse(url)
	_, namespace := flakeid.OpenLease(ctx, "http://127.0.0.1:1", flakeid.WithNamespace(url))
	_, nul := flakeid.OpenLease(ctx, url+"\x00")
	for _, err := range []error{layout, id, namespace, nul} {
		if text := err.Error(); !strings.Contains(text, "postgresql://…") || strings.Contains(text, "s3cret") {
			t.Error(text)
		}
	}
}

func TestRefusedLayouts(t *testing.T) {
	for _, text := range []string{
		"", "TWITTER", "twitter ", "twitter\x00", "t41.n10.s12@0/1m", "\xff", strings.Repeat("x", 100_000),
	} {
		_, err := flakeid.ParseLayout(text)
		code(t, flakeid.ErrInvalidLayout, err)
		var kept flakeid.Layout
		code(t, flakeid.ErrInvalidLayout, kept.UnmarshalText([]byte(text)))
		same(t, nil, kept, flakeid.Layout{})
	}
	_, err := flakeid.Layout{}.Decode(math.MaxUint64)
	code(t, flakeid.ErrInvalidID, err)
	_, err = flakeid.ID(math.MaxUint64).Time(flakeid.Layout{})
	code(t, flakeid.ErrInvalidID, err)
	_, err = layout(t, "plain").JoinNode(0, 1)
	code(t, flakeid.ErrInvalidOption, err)
	_, err = flakeid.Layout{}.JoinNode(32, 0)
	code(t, flakeid.ErrFieldOutOfRange, err)
	_, err = flakeid.Layout{}.PartsAt(time.UnixMilli(0))
	code(t, flakeid.ErrBeforeEpoch, err)
	_, err = flakeid.Layout{}.Pack(flakeid.Parts{Tick: 1, Time: instant})
	code(t, flakeid.ErrInvalidOption, err)
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, flakeid.ErrInvalidLayout) {
			t.Fatal(err)
		}
	}()
	flakeid.MustParseLayout("nonsense")
}

func TestRejectedStrings(t *testing.T) {
	for _, text := range []string{
		"", "0", "0000000000", "000000000000", "zzzzzzzzzzz", "0000000000-", "0000000000é", "00000000000\x00",
		strings.Repeat("0", 100_000),
	} {
		_, err := flakeid.Base62.Decode(text)
		code(t, flakeid.ErrInvalidID, err)
	}
	_, err := flakeid.Parse("18446744073709551616")
	code(t, flakeid.ErrInvalidID, err)
	for _, bytes := range [][]byte{nil, {1, 2, 3}, make([]byte, 7), make([]byte, 9)} {
		_, err := flakeid.FromBytes(bytes)
		code(t, flakeid.ErrInvalidID, err)
	}
	for _, form := range []flakeid.Form{-1, 9} {
		_, err = form.Encode(1)
		code(t, flakeid.ErrInvalidOption, err)
		_, err = form.Decode("1")
		code(t, flakeid.ErrInvalidOption, err)
	}
}

func TestNilGeneratorReturnsErrors(t *testing.T) {
	var generator *flakeid.Generator
	_, err := generator.NextID()
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.TryNextID()
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.AppendIDs(nil, 3)
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.TryFill(make([]flakeid.ID, 1))
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.Buffered(16, time.Second)
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.Node()
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.Nodes()
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.Layout()
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.Stats()
	code(t, flakeid.ErrNullArgument, err)
	_, err = generator.Lease()
	code(t, flakeid.ErrNullArgument, err)
	_, _, err = generator.Retire()
	code(t, flakeid.ErrNullArgument, err)
	code(t, flakeid.ErrNullArgument, generator.Extend(1))
	code(t, flakeid.ErrNullArgument, generator.Close())
	var public *flakeid.PublicIDs
	_, err = public.Seal(1)
	code(t, flakeid.ErrNullArgument, err)
	_, err = public.Open("u_x")
	code(t, flakeid.ErrNullArgument, err)
}

func TestRefusedCalls(t *testing.T) {
	generator, unchanged := kept(t)
	defer unchanged()
	code(t, flakeid.ErrInvalidOption, generator.Extend(1))
	_, err := generator.Lease()
	code(t, flakeid.ErrInvalidOption, err)
	for _, fill := range []func([]flakeid.ID) (int, error){generator.Fill, generator.TryFill} {
		same(t, nil, must[int](t, nil)(fill(nil)), 0)
	}
	appended, err := generator.AppendIDs([]flakeid.ID{7}, math.MaxInt)
	code(t, flakeid.ErrFieldOutOfRange, err)
	same(t, nil, len(appended), 1)
	_, err = generator.AppendIDs(nil, -1)
	code(t, flakeid.ErrFieldOutOfRange, err)
	for _, size := range []int{-1, 0, 1<<20 + 1} {
		_, err = generator.Buffered(size, time.Second)
		code(t, flakeid.ErrFieldOutOfRange, err)
	}
	_, err = generator.Buffered(1, 0)
	code(t, flakeid.ErrFieldOutOfRange, err)
	// The calls use a generator that no function created, and a generator that was closed.
	_, err = new(flakeid.Generator).NextID()
	code(t, flakeid.ErrNullArgument, err)
	code(t, flakeid.ErrNullArgument, new(flakeid.Generator).Close())
	ended := must[*flakeid.Generator](t, nil)(flakeid.New(
		flakeid.WithNode(8), flakeid.WithManualClock(flakeid.NewManualClock(instant))))
	if _, issued, err := ended.Retire(); issued || err != nil {
		t.Fatal(issued, err)
	}
	ids := [2]flakeid.ID{42, 42}
	count, err := ended.Fill(ids[:])
	code(t, flakeid.ErrClosed, err)
	same(t, nil, count, 0)
	same(t, nil, ids, [2]flakeid.ID{42, 42})
	_, _, err = ended.Retire()
	code(t, flakeid.ErrClosed, err)
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
}
