package flakeid

import (
	"math"
	"strings"
	"testing"
)

// What the types let through: every call is refused with its code, and what there was stays.

// Places of text forms in the vectors, and so in the C helper.
const (
	decimal = 0
	base62  = 4
)

func number(n uint64) *uint64 { return &n }

func code(t *testing.T, code string, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, but %s is expected", code)
	}
	same(t, nil, err.(*Error).Code, code)
	if len(err.Error()) < 10 || len(err.Error()) > 1000 {
		t.Fatalf("%s says %q", code, err)
	}
}

// kept is a generator on a clock that stands still, and a check that nothing has happened to it.
func kept(t *testing.T) (*Generator, func()) {
	t.Helper()
	clock := must[*ManualClock](t, nil)(NewManualClock(1505914988849))
	generator := must[*Generator](t, nil)(NewGenerator(Options{Node: number(7), Clock: clock}))
	first := must[uint64](t, nil)(generator.NextID())
	return generator, func() {
		t.Helper()
		same(t, nil, must[uint64](t, nil)(generator.NextID()), first+1)
		waits, rollbacks, ahead, err := generator.Stats()
		same(t, nil, [3]uint64{waits, rollbacks, ahead}, [3]uint64{})
		if err != nil {
			t.Fatal(err)
		}
		generator.Free()
		clock.Free()
	}
}

func TestRefusedOptions(t *testing.T) {
	_, unchanged := kept(t)
	defer unchanged()
	one := number(1)
	for _, at := range []struct {
		code    string
		options Options
	}{
		{"FLAKEID_INVALID_OPTION", Options{}},
		{"FLAKEID_INVALID_OPTION", Options{Datacenter: one}},
		{"FLAKEID_INVALID_OPTION", Options{Worker: one}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Worker: one}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Datacenter: one, Worker: one}},
		{"FLAKEID_INVALID_OPTION", Options{Datacenter: one, Worker: one, Layout: "plain"}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, SequenceMask: number(4)}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Overflow: 3}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Overflow: 2}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Rollback: -1}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Rollback: 3}},
		{"FLAKEID_INVALID_OPTION", Options{Node: one, Window: &[2]uint64{5, 6}}},
		{"FLAKEID_FIELD_OUT_OF_RANGE", Options{Node: number(1024)}},
		{"FLAKEID_FIELD_OUT_OF_RANGE", Options{Node: number(math.MaxUint64)}},
		{"FLAKEID_FIELD_OUT_OF_RANGE", Options{Node: number(64), Layout: "js-safe"}},
		{"FLAKEID_FIELD_OUT_OF_RANGE", Options{Datacenter: number(32), Worker: one}},
		{"FLAKEID_FIELD_OUT_OF_RANGE", Options{Datacenter: one, Worker: number(32)}},
		{"FLAKEID_INVALID_LAYOUT", Options{Node: one, Layout: "nonsense"}},
		{"FLAKEID_INVALID_LAYOUT", Options{Node: one, Layout: "\xff"}},
		{"FLAKEID_HORIZON_REACHED", Options{Node: one, Layout: "baidu"}},
	} {
		generator, err := NewGenerator(at.options)
		code(t, at.code, err)
		if generator.handle != nil {
			t.Fatal("a generator although it failed")
		}
	}
}

func TestRefusedLayouts(t *testing.T) {
	for _, layout := range []string{"TWITTER", "twitter ", "t41.n10.s12@0/1m", "\xff", strings.Repeat("x", 100_000)} {
		_, descriptor := Descriptor(layout)
		_, info := Info(layout)
		_, decode := Decode(layout, 1)
		_, pack := Pack(layout, Parts{})
		_, join := JoinNode(layout, 0, 0)
		_, lower := LowerBound(layout, 0)
		_, upper := UpperBound(layout, 0)
		for _, err := range []error{descriptor, info, decode, pack, join, lower, upper} {
			code(t, "FLAKEID_INVALID_LAYOUT", err)
		}
	}
	_, err := Decode("twitter", math.MaxUint64)
	code(t, "FLAKEID_INVALID_ID", err)
	_, err = JoinNode("plain", 0, 1)
	code(t, "FLAKEID_INVALID_OPTION", err)
	_, err = JoinNode("twitter", 32, 0)
	code(t, "FLAKEID_FIELD_OUT_OF_RANGE", err)
}

func TestRefusedTexts(t *testing.T) {
	for _, text := range []string{"", "0", "0000000000", "000000000000", "zzzzzzzzzzz", "0000000000-", "0000000000é", strings.Repeat("0", 100_000)} {
		_, err := FromText(base62, text)
		code(t, "FLAKEID_INVALID_ID", err)
	}
	_, err := FromText(decimal, "18446744073709551616")
	code(t, "FLAKEID_INVALID_ID", err)
	for _, bytes := range [][]byte{{1, 2, 3}, make([]byte, 7), make([]byte, 9)} {
		_, err := FromBytes(bytes)
		code(t, "FLAKEID_INVALID_ID", err)
	}
}

func TestRefusedCalls(t *testing.T) {
	generator, unchanged := kept(t)
	defer unchanged()
	code(t, "FLAKEID_INVALID_OPTION", generator.Extend(1))
	for _, fill := range []func([]uint64) (int, error){generator.Fill, generator.TryFill} {
		same(t, nil, must[int](t, nil)(fill(nil)), 0)
	}
	// A generator that could not be made, and one that has ended.
	none := &Generator{}
	_, err := none.NextID()
	code(t, "FLAKEID_NULL_ARGUMENT", err)
	clock := must[*ManualClock](t, nil)(NewManualClock(1505914988849))
	defer clock.Free()
	ended := must[*Generator](t, nil)(NewGenerator(Options{Node: number(8), Clock: clock}))
	defer ended.Free()
	if _, issued, err := ended.Retire(); issued || err != nil {
		t.Fatal(issued, err)
	}
	ids := [2]uint64{42, 42}
	count, err := ended.Fill(ids[:])
	code(t, "FLAKEID_CLOSED", err)
	same(t, nil, count, 0)
	same(t, nil, ids, [2]uint64{42, 42})
	_, _, err = ended.Retire()
	code(t, "FLAKEID_CLOSED", err)
}
