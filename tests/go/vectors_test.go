package flakeid

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

type row map[string]any

// load reads one of the shared files.
func load(t *testing.T, name string) row {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file row
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func (r row) object(key string) row {
	object, _ := r[key].(map[string]any)
	return object
}

func (r row) list(key string) (rows []row) {
	list, _ := r[key].([]any)
	for _, item := range list {
		rows = append(rows, item.(map[string]any))
	}
	return
}

// rows is a list that must not be empty: a loop over nothing proves nothing.
func (r row) rows(t *testing.T, key string) []row {
	t.Helper()
	rows := r.list(key)
	if len(rows) == 0 {
		t.Fatalf("%s is empty", key)
	}
	return rows
}

func (r row) text(key string) string {
	text, _ := r[key].(string)
	return text
}

func (r row) number(t *testing.T, key string) uint64 {
	t.Helper()
	if small, ok := r[key].(float64); ok {
		return uint64(small)
	}
	number, err := strconv.ParseUint(r.text(key), 10, 64)
	if err != nil {
		t.Fatalf("%s in %v: %v", key, r, err)
	}
	return number
}

func (r row) instant(t *testing.T, key string) int64 {
	t.Helper()
	ms, err := strconv.ParseInt(r.text(key), 10, 64)
	if err != nil {
		t.Fatalf("%s in %v: %v", key, r, err)
	}
	return ms
}

// given is the number if there is one.
func (r row) given(t *testing.T, key string) *uint64 {
	t.Helper()
	if r[key] == nil {
		return nil
	}
	number := r.number(t, key)
	return &number
}

// place is where a name stands in a list, or -1.
func place(names []string, name string) int {
	for index, known := range names {
		if known == name {
			return index
		}
	}
	return -1
}

func must[T any](t *testing.T, at row) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v: %v", at, err)
		}
		return value
	}
}

func same[T comparable](t *testing.T, at row, actual, expected T) {
	t.Helper()
	if actual != expected {
		t.Fatalf("%v: %v, expected %v", at, actual, expected)
	}
}

// refused checks an error's code and field.
func refused(t *testing.T, at row, err error) {
	t.Helper()
	failed, ok := err.(*Error)
	if !ok {
		t.Fatalf("%v: accepted", at)
	}
	code := at.text("code")
	if code == "" {
		code = "FLAKEID_INVALID_LAYOUT"
	}
	same(t, at, failed.Code, code)
	same(t, at, failed.Field, at.text("field"))
}

func TestErrors(t *testing.T) {
	file := load(t, "errors")
	for _, at := range append(file.rows(t, "errors"), file.rows(t, "c_only")...) {
		status := int32(at.number(t, "c"))
		same(t, at, StatusCode(status), at.text("code"))
		if StatusMessage(status) == StatusMessage(-1) {
			t.Fatalf("%v has no message", at)
		}
	}
}

func TestText(t *testing.T) {
	groups := load(t, "text").rows(t, "forms")
	same(t, nil, len(groups), len(Forms))
	for _, group := range groups {
		form := place(Forms, group.text("form"))
		for _, at := range group.rows(t, "valid") {
			same(t, at, must[string](t, at)(ToText(form, at.number(t, "id"))), at.text("text"))
			same(t, at, must[uint64](t, at)(FromText(form, at.text("text"))), at.number(t, "id"))
		}
		for _, at := range group.list("accepted") {
			same(t, at, must[uint64](t, at)(FromText(form, at.text("text"))), at.number(t, "id"))
		}
		for _, at := range group.rows(t, "rejected") {
			if !strings.Contains(at.text("text"), "\x00") {
				_, err := FromText(form, at.text("text"))
				refused(t, at, err)
			}
		}
	}
}

func TestPresetsAndDescriptors(t *testing.T) {
	file := load(t, "layouts")
	presets := Presets()
	rows := file.rows(t, "presets")
	same(t, nil, len(presets), len(rows))
	for index, at := range rows {
		name := presets[index]
		same(t, at, name, at.text("name"))
		same(t, at, must[string](t, at)(Descriptor(name)), at.text("descriptor"))
		info := must[Figures](t, at)(Info(name))
		same(t, at, uint64(info.Width), at.number(t, "width"))
		same(t, at, info.MaxTick, at.number(t, "max_tick"))
		same(t, at, info.MaxNode, at.number(t, "max_node"))
		same(t, at, info.MaxSequence, at.number(t, "max_sequence"))
		same(t, at, info.IDsPerTick, at.number(t, "ids_per_tick"))
		same(t, at, info.Horizon, at.instant(t, "horizon_unix_ms"))
		same(t, at, info.FitsI64Until, at.instant(t, "fits_i64_until_unix_ms"))
		same(t, at, info.Split, at["split"].(bool))
		same(t, at, info.Generates, at["generates"].(bool))
		same(t, at, must[string](t, at)(Timestamp(name, info.Horizon)), at.text("horizon"))
	}
	descriptors := file.object("descriptors")
	for _, at := range descriptors.rows(t, "valid") {
		same(t, at, must[string](t, at)(Descriptor(at.text("text"))), at.text("canonical"))
		same(t, at, must[Figures](t, at)(Info(at.text("text"))).Generates, at["generates"].(bool))
	}
	for _, at := range descriptors.rows(t, "invalid") {
		if !strings.Contains(at.text("text"), "\x00") {
			_, err := Descriptor(at.text("text"))
			refused(t, at, err)
		}
	}
	for _, at := range file.rows(t, "bounds") {
		layout, ms := at.text("layout"), at.instant(t, "unix_ms")
		same(t, at, must[uint64](t, at)(LowerBound(layout, ms)), at.number(t, "lower"))
		same(t, at, must[uint64](t, at)(UpperBound(layout, ms)), at.number(t, "upper"))
	}
}

func TestIDs(t *testing.T) {
	file := load(t, "layouts")
	for _, at := range file.rows(t, "ids") {
		layout, id := at.text("layout"), at.number(t, "id")
		parts := must[Parts](t, at)(Decode(layout, id))
		expected := Parts{
			Tick: at.number(t, "tick"), UnixMs: at.instant(t, "unix_ms"), Node: at.number(t, "node"),
			ClockSequence: at.number(t, "clock_sequence"), Sequence: at.number(t, "sequence"),
		}
		if datacenter := at.given(t, "datacenter"); datacenter != nil {
			expected.Datacenter, expected.Worker, expected.Split = *datacenter, at.number(t, "worker"), true
			same(t, at, must[uint64](t, at)(JoinNode(layout, expected.Datacenter, expected.Worker)), parts.Node)
		}
		same(t, at, parts, expected)
		same(t, at, must[uint64](t, at)(Pack(layout, parts)), id)
		bytes := must[[8]byte](t, at)(ToBytes(id))
		same(t, at, hex.EncodeToString(bytes[:]), at.text("bytes"))
		same(t, at, must[uint64](t, at)(FromBytes(bytes[:])), id)
		if at["timestamp"] != nil {
			same(t, at, must[string](t, at)(Timestamp(layout, parts.UnixMs)), at.text("timestamp"))
		}
	}
	for _, at := range file.rows(t, "rejected_ids") {
		_, err := Decode(at.text("layout"), at.number(t, "id"))
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "rejected_splits") {
		_, err := JoinNode(at.text("layout"), at.number(t, "datacenter"), at.number(t, "worker"))
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "rejected_parts") {
		tick := at.number(t, "tick")
		_, err := Pack(at.text("layout"), Parts{
			Tick: tick, UnixMs: must[int64](t, at)(UnixMsAt(at.text("layout"), tick)), Node: at.number(t, "node"),
			ClockSequence: at.number(t, "clock_sequence"), Sequence: at.number(t, "sequence"),
		})
		refused(t, at, err)
	}
}
