package flakeid_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

type row map[string]any

// TestLibraryIsReadAgain makes Go run these tests again after the static library has changed. Go repeats results that
// it has cached, and considers only the files that tests read, but not the libraries that programs are linked with.
func TestLibraryIsReadAgain(t *testing.T) {
	if _, err := os.Stat("slim/linux_" + runtime.GOARCH + "/libflakeid.a"); err != nil {
		t.Log("these tests do not use the slim library: ", err)
	}
}

// load reads one file of the shared vectors.
func load(t *testing.T, name string) row {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "tests", "vectors", name+".json"))
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

// rows returns a list that must not be empty, because a loop over nothing proves nothing.
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

// given returns the number if the row has one.
func (r row) given(t *testing.T, key string) *uint64 {
	t.Helper()
	if r[key] == nil {
		return nil
	}
	number := r.number(t, key)
	return &number
}

// place returns the index of a name in a list, or -1.
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

func (r row) moment(t *testing.T, key string) time.Time {
	t.Helper()
	return time.UnixMilli(r.instant(t, key)).UTC()
}

// refused checks the code and the field of an error.
func refused(t *testing.T, at row, err error) {
	t.Helper()
	var failed *flakeid.Error
	if !errors.As(err, &failed) {
		t.Fatalf("%v: accepted", at)
	}
	code := at.text("code")
	if code == "" {
		code = "FLAKEID_INVALID_LAYOUT"
	}
	same(t, at, failed.Code.String(), code)
	same(t, at, failed.Field, goName(at.text("field")))
}

// goName is the name in Go of a field that the vectors have in snake case.
func goName(field string) string {
	words := strings.Split(field, "_")
	for index, word := range words[1:] {
		words[index+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func layout(t *testing.T, text string) flakeid.Layout {
	t.Helper()
	return must[flakeid.Layout](t, row{"layout": text})(flakeid.ParseLayout(text))
}

// kinds lists the constants of all codes.
var kinds = []flakeid.Code{
	flakeid.ErrInvalidLayout, flakeid.ErrFieldOutOfRange, flakeid.ErrInvalidID, flakeid.ErrInvalidOption,
	flakeid.ErrClockRollback, flakeid.ErrSequenceExhausted, flakeid.ErrHorizonReached, flakeid.ErrBeforeEpoch,
	flakeid.ErrClosed, flakeid.ErrForked, flakeid.ErrRingEmpty, flakeid.ErrLeaseExpired, flakeid.ErrNoFreeNode,
	flakeid.ErrClockSkew, flakeid.ErrFenceInFuture, flakeid.ErrStoreUnavailable, flakeid.ErrStoreRejected,
}

func TestErrors(t *testing.T) {
	file := load(t, "errors")
	rows := file.rows(t, "errors")
	same(t, nil, len(rows), len(kinds))
	for index, at := range rows {
		kind := kinds[index]
		same(t, at, uint64(kind), at.number(t, "c"))
		same(t, at, kind.String(), at.text("code"))
		err := fmt.Errorf("within: %w", &flakeid.Error{Code: kind})
		for _, other := range kinds {
			same(t, at, errors.Is(err, other), other == kind)
		}
	}
	for _, at := range append(rows, file.rows(t, "c_only")...) {
		code := flakeid.Code(at.number(t, "c"))
		same(t, at, code.String(), at.text("code"))
		if code.Error() == flakeid.Code(-1).Error() {
			t.Fatalf("%v has no message", at)
		}
	}
}

var forms = []flakeid.Form{
	flakeid.Decimal, flakeid.Base32, flakeid.Base36, flakeid.Base58, flakeid.Base62, flakeid.Hex,
	flakeid.Base58Flickr, flakeid.Zbase32,
}

func TestText(t *testing.T) {
	groups := load(t, "text").rows(t, "forms")
	same(t, nil, len(groups), len(forms))
	for index, group := range groups {
		form := forms[index]
		same(t, group, form.String(), group.text("form"))
		for _, at := range group.rows(t, "valid") {
			id := flakeid.ID(at.number(t, "id"))
			same(t, at, must[string](t, at)(form.Encode(id)), at.text("text"))
			same(t, at, must[flakeid.ID](t, at)(form.Decode(at.text("text"))), id)
			if form == flakeid.Decimal {
				same(t, at, id.String(), at.text("text"))
			}
		}
		for _, at := range group.list("accepted") {
			same(t, at, must[flakeid.ID](t, at)(form.Decode(at.text("text"))), flakeid.ID(at.number(t, "id")))
		}
		for _, at := range group.rows(t, "rejected") {
			_, err := form.Decode(at.text("text"))
			refused(t, at, err)
		}
	}
}

func TestUUIDs(t *testing.T) {
	file := load(t, "uuid")
	var previous string
	for _, at := range file.rows(t, "valid") {
		id := flakeid.ID(at.number(t, "id"))
		uuid := id.UUID()
		same(t, at, hex.EncodeToString(uuid[:]), at.text("bytes"))
		same(t, at, must[flakeid.ID](t, at)(flakeid.FromUUID(uuid)), id)
		same(t, at, must[string](t, at)(flakeid.UUID.Encode(id)), at.text("text"))
		same(t, at, must[flakeid.ID](t, at)(flakeid.UUID.Decode(at.text("text"))), id)
		// The rows are in the order of the IDs, so the bytes must also increase.
		same(t, at, previous < string(uuid[:]), true)
		previous = string(uuid[:])
	}
	for _, at := range file.rows(t, "accepted") {
		id := flakeid.ID(at.number(t, "id"))
		same(t, at, must[flakeid.ID](t, at)(flakeid.UUID.Decode(at.text("text"))), id)
	}
	for _, at := range file.rows(t, "rejected") {
		_, err := flakeid.UUID.Decode(at.text("text"))
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "rejected_bytes") {
		data, err := hex.DecodeString(at.text("bytes"))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 16 { // the type of the argument excludes all other lengths
			_, err := flakeid.FromUUID([16]byte(data))
			refused(t, at, err)
		}
	}
}

func TestPresetsAndDescriptors(t *testing.T) {
	file := load(t, "layouts")
	presets := flakeid.Presets()
	rows := file.rows(t, "presets")
	same(t, nil, len(presets), len(rows))
	for index, at := range rows {
		same(t, at, presets[index], at.text("name"))
		preset := layout(t, presets[index])
		same(t, at, preset.String(), at.text("descriptor"))
		info := preset.Info()
		same(t, at, uint64(info.Width), at.number(t, "width"))
		same(t, at, info.MaxTick, at.number(t, "max_tick"))
		same(t, at, info.MaxNode, at.number(t, "max_node"))
		same(t, at, info.MaxSequence, at.number(t, "max_sequence"))
		same(t, at, info.IDsPerTick, at.number(t, "ids_per_tick"))
		same(t, at, info.Horizon, at.moment(t, "horizon_unix_ms"))
		same(t, at, info.FitsInt64Until, at.moment(t, "fits_i64_until_unix_ms"))
		same(t, at, info.IsSplit, at["split"].(bool))
		same(t, at, info.CanGenerate, at["generates"].(bool))
		same(t, at, preset.Timestamp(info.Horizon), at.text("horizon"))
	}
	same(t, nil, flakeid.Layout{}.String(), layout(t, "twitter").String())
	descriptors := file.object("descriptors")
	for _, at := range descriptors.rows(t, "valid") {
		valid := layout(t, at.text("text"))
		same(t, at, valid.String(), at.text("canonical"))
		same(t, at, valid.Info().CanGenerate, at["generates"].(bool))
	}
	for _, at := range descriptors.rows(t, "invalid") {
		_, err := flakeid.ParseLayout(at.text("text"))
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "bounds") {
		bounded, when := layout(t, at.text("layout")), at.moment(t, "unix_ms")
		same(t, at, bounded.LowerBound(when), flakeid.ID(at.number(t, "lower")))
		same(t, at, bounded.UpperBound(when), flakeid.ID(at.number(t, "upper")))
	}
}

func TestIDs(t *testing.T) {
	file := load(t, "layouts")
	for _, at := range file.rows(t, "ids") {
		of, id := layout(t, at.text("layout")), flakeid.ID(at.number(t, "id"))
		parts := must[flakeid.Parts](t, at)(of.Decode(id))
		expected := flakeid.Parts{
			Tick: at.number(t, "tick"), Time: at.moment(t, "unix_ms"), Node: at.number(t, "node"),
			ClockSequence: at.number(t, "clock_sequence"), Sequence: at.number(t, "sequence"),
		}
		if datacenter := at.given(t, "datacenter"); datacenter != nil {
			expected.Datacenter, expected.Worker, expected.IsSplit = *datacenter, at.number(t, "worker"), true
			same(t, at, must[uint64](t, at)(of.JoinNode(expected.Datacenter, expected.Worker)), parts.Node)
		}
		same(t, at, parts, expected)
		same(t, at, must[time.Time](t, at)(id.Time(of)), expected.Time)
		same(t, at, must[flakeid.ID](t, at)(of.Pack(parts)), id)
		start := must[flakeid.Parts](t, at)(of.PartsAt(expected.Time))
		same(t, at, start, flakeid.Parts{Tick: parts.Tick, Time: parts.Time})
		bytes := id.Bytes()
		same(t, at, hex.EncodeToString(bytes[:]), at.text("bytes"))
		same(t, at, must[flakeid.ID](t, at)(flakeid.FromBytes(bytes[:])), id)
		if at["timestamp"] != nil {
			same(t, at, of.Timestamp(parts.Time), at.text("timestamp"))
		}
	}
	for _, at := range file.rows(t, "rejected_ids") {
		_, err := layout(t, at.text("layout")).Decode(flakeid.ID(at.number(t, "id")))
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "rejected_splits") {
		_, err := layout(t, at.text("layout")).JoinNode(at.number(t, "datacenter"), at.number(t, "worker"))
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "rejected_parts") {
		_, err := layout(t, at.text("layout")).Pack(flakeid.Parts{
			Tick: at.number(t, "tick"), Node: at.number(t, "node"),
			ClockSequence: at.number(t, "clock_sequence"), Sequence: at.number(t, "sequence"),
		})
		refused(t, at, err)
	}
}

func TestPublicIDs(t *testing.T) {
	file := load(t, "keyed")
	domain := file.object("one_domain")
	make := func(at row, since *time.Time) (*flakeid.PublicIDs, error) {
		options := flakeid.PublicIDOptions{Prefix: at.text("prefix")}
		if at["layout"] != nil {
			options.Layout = layout(t, at.text("layout"))
		}
		if since != nil {
			options.Since = *since
		}
		return flakeid.NewPublicIDs(at.text("keyring"), at.text("domain"), options)
	}
	for _, at := range file.rows(t, "public_ids") {
		ids := must[*flakeid.PublicIDs](t, at)(make(at, nil))
		id := flakeid.ID(at.number(t, "id"))
		same(t, at, must[string](t, at)(ids.Seal(id)), at.text("text"))
		same(t, at, must[uint64](t, at)(ids.SealBits(id)), at.number(t, "bits"))
		same(t, at, must[flakeid.ID](t, at)(ids.OpenAt(at.text("text"), time.UnixMilli(1<<62))), id)
	}
	open := func(at row) (flakeid.ID, error) {
		var since *time.Time
		if at["since_ms"] != nil {
			moment := at.moment(t, "since_ms")
			since = &moment
		}
		return must[*flakeid.PublicIDs](t, at)(make(domain, since)).OpenAt(at.text("text"), at.moment(t, "now_ms"))
	}
	for _, at := range file.rows(t, "opened") {
		same(t, at, must[flakeid.ID](t, at)(open(at)), flakeid.ID(at.number(t, "id")))
	}
	for _, at := range file.rows(t, "rejected") {
		_, err := open(at)
		refused(t, at, err)
	}
	for _, at := range file.rows(t, "invalid") {
		if at["prefix"] != "" { // which means no prefix in Go
			_, err := make(at, nil)
			refused(t, at, err)
		}
	}
	now := must[*flakeid.PublicIDs](t, nil)(make(domain, nil))
	sealed := must[string](t, nil)(now.Seal(910499571847892992))
	same(t, nil, must[flakeid.ID](t, nil)(now.Open(sealed)), 910499571847892992)
}
