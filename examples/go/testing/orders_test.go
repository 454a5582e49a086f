// Tests of an application: one generator for a test, and a clock that a test moves.
package orders

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

// leaseNode leases a node from a store that lives as long as the rows of the test.
func leaseNode(t *testing.T) *flakeid.Generator {
	t.Helper()
	store := "sqlite://" + filepath.Join(t.TempDir(), "flakeid.db")
	ids, err := flakeid.OpenLease(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ids.Close() })
	return ids
}

// next returns the next ID and its time.
func next(t *testing.T, ids *flakeid.Generator) (flakeid.ID, time.Time) {
	t.Helper()
	id, err := ids.NextID()
	if err != nil {
		t.Fatal(err)
	}
	made, err := id.Time(flakeid.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	return id, made
}

func TestTwoOrdersHaveTwoIDs(t *testing.T) {
	ids := leaseNode(t)
	first, _ := next(t, ids)
	if second, _ := next(t, ids); second <= first {
		t.Errorf("%s follows %s", second, first)
	}
}

func TestOrderContainsItsTime(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_000)
	clock := flakeid.NewManualClock(start)
	ids, err := flakeid.New(flakeid.WithNode(7), flakeid.WithManualClock(clock))
	if err != nil {
		t.Fatal(err)
	}
	if _, made := next(t, ids); !made.Equal(start) {
		t.Errorf("%s, not %s", made, start)
	}
	clock.Advance(24 * time.Hour)
	if _, made := next(t, ids); !made.Equal(start.Add(24 * time.Hour)) {
		t.Errorf("%s is not a day later than %s", made, start)
	}
}
