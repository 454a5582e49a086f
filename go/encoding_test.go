package flakeid_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/flakeid/flakeid/go"
)

const known flakeid.ID = 910499571847892992

func TestJSON(t *testing.T) {
	type order struct {
		ID     flakeid.ID            `json:"id"`
		Parent *flakeid.ID           `json:"parent"`
		Lines  map[flakeid.ID]string `json:"lines"`
	}
	const text = `{"id":"910499571847892992","parent":null,"lines":{"18446744073709551615":"tea"}}`
	same(t, nil, string(must[[]byte](t, nil)(json.Marshal(order{
		ID: known, Lines: map[flakeid.ID]string{math.MaxUint64: "tea"},
	}))), text)
	var read order
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	same(t, nil, read.ID, known)
	same(t, nil, read.Parent, nil)
	same(t, nil, read.Lines[math.MaxUint64], "tea")
	read.ID = 42
	for _, bad := range []string{
		"910499571847892992", "7", "1e3", "true", `[]`, `""`, `"-1"`, `"+1"`, `" 1"`, `"1.0"`,
		`"18446744073709551616"`, `"1\u0000"`,
	} {
		err := json.Unmarshal([]byte(`{"id":`+bad+`}`), &read)
		code(t, flakeid.ErrInvalidID, err)
		same(t, nil, read.ID, 42)
	}
	if err := json.Unmarshal([]byte(`{"id":"\u0039\u0031"}`), &read); err != nil || read.ID != 91 {
		t.Fatal(read.ID, err)
	}
	code(t, flakeid.ErrInvalidID, read.ID.UnmarshalJSON(nil))
	if err := read.ID.UnmarshalJSON([]byte(`"1`)); err == nil {
		t.Fatal("half a string")
	}
	type options struct {
		Layout flakeid.Layout
	}
	var chosen options
	if err := json.Unmarshal([]byte(`{"Layout":"sonyflake"}`), &chosen); err != nil {
		t.Fatal(err)
	}
	same(t, nil, chosen.Layout, layout(t, "sonyflake"))
	again := must[[]byte](t, nil)(json.Marshal(chosen))
	same(t, nil, string(again), fmt.Sprintf(`{"Layout":%q}`, chosen.Layout))
}

// echo is a database driver whose queries return their argument.
type echo struct{}

func (echo) Connect(context.Context) (driver.Conn, error) { return echo{}, nil }
func (echo) Driver() driver.Driver                        { return nil }
func (echo) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (echo) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (echo) Close() error                                 { return nil }
func (echo) CheckNamedValue(value *driver.NamedValue) (err error) {
	if id, ok := value.Value.(driver.Valuer); ok {
		value.Value, err = id.Value()
	}
	return err
}
func (echo) QueryContext(_ context.Context, _ string, given []driver.NamedValue) (driver.Rows, error) {
	return &echoed{value: given[0].Value}, nil
}

type echoed struct {
	value driver.Value
	read  bool
}

func (*echoed) Columns() []string { return []string{"id"} }
func (*echoed) Close() error      { return nil }
func (e *echoed) Next(values []driver.Value) error {
	if e.read {
		return io.EOF
	}
	e.read, values[0] = true, e.value
	return nil
}

func TestSQL(t *testing.T) {
	database := sql.OpenDB(echo{})
	defer database.Close()
	query := func(given any, to any) error { return database.QueryRow("", given).Scan(to) }
	var id flakeid.ID
	for _, given := range []any{known, int64(known), uint64(known), known.String(), []byte(known.String())} {
		id = 0
		if err := query(given, &id); err != nil {
			t.Fatal(err)
		}
		same(t, nil, id, known)
	}
	var number int64
	if err := query(known, &number); err != nil || number != int64(known) {
		t.Fatal(number, err)
	}
	for _, given := range []any{nil, int64(-1), 1.0, true, "", "x", []byte{0}} {
		code(t, flakeid.ErrInvalidID, query(given, &id))
		same(t, nil, id, known)
	}
	for _, expected := range []struct {
		given   any
		message string
	}{
		{int64(-1), "-1 is not an ID: a bigint must be from 0 to 9223372036854775807; if the column contains " +
			"unsigned IDs that were stored as signed numbers, scan an int64 and convert it to a flakeid.ID"},
		{int32(-1), "int32 -1 is not an ID: a column of IDs must be a bigint or a string of digits"},
		{0.1, "float64 0.1 is not an ID: a column of IDs must be a bigint or a string of digits"},
	} {
		var rejected *flakeid.Error
		if err := id.Scan(expected.given); !errors.As(err, &rejected) {
			t.Fatal(expected.given, err)
		}
		same(t, nil, rejected.Code, flakeid.ErrInvalidID)
		same(t, nil, rejected.Message, expected.message)
		same(t, nil, id, known)
	}
	negative := int64(-1)
	same(t, nil, flakeid.ID(negative), math.MaxUint64)
	if err := query(flakeid.ID(math.MaxInt64+1), &id); err == nil {
		t.Fatal("an ID that does not fit")
	}
	_, err := flakeid.ID(math.MaxInt64 + 1).Value()
	code(t, flakeid.ErrInvalidID, err)
	optional := &id
	if err := query(nil, &optional); err != nil || optional != nil {
		t.Fatal(optional, err)
	}
	if err := query(known, &optional); err != nil || *optional != known {
		t.Fatal(optional, err)
	}
}

func TestColumnsOfUUIDs(t *testing.T) {
	database := sql.OpenDB(echo{})
	defer database.Close()
	query := func(given any, to any) error { return database.QueryRow("", given).Scan(to) }
	uuid := known.UUID()
	text := must[string](t, nil)(flakeid.UUID.Encode(known))
	var id flakeid.IDAsUUID
	for _, given := range []any{flakeid.IDAsUUID(known), text, []byte(text), uuid[:]} {
		id = 0
		if err := query(given, &id); err != nil {
			t.Fatal(err)
		}
		same(t, nil, id, flakeid.IDAsUUID(known))
	}
	if err := id.Scan(flakeid.ID(math.MaxUint64).UUID()); err != nil || id != math.MaxUint64 {
		t.Fatal(id, err)
	}
	for _, given := range []any{nil, int64(known), known.String(), "6ba7b810-9dad-41d1-80b4-00c04fd430c8", []byte{0}} {
		code(t, flakeid.ErrInvalidID, query(given, &id))
		same(t, nil, id, math.MaxUint64)
	}
	optional := &id
	if err := query(nil, &optional); err != nil || optional != nil {
		t.Fatal(optional, err)
	}
	written := must[[]byte](t, nil)(json.Marshal(map[flakeid.IDAsUUID]flakeid.IDAsUUID{1: flakeid.IDAsUUID(known)}))
	same(t, nil, string(written), `{"1":"910499571847892992"}`)
	var read map[flakeid.IDAsUUID]flakeid.IDAsUUID
	if err := json.Unmarshal(written, &read); err != nil || read[1] != flakeid.IDAsUUID(known) {
		t.Fatal(read, err)
	}
	same(t, nil, id.String(), "18446744073709551615")
}
