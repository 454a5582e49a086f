package flakeid

import (
	"path/filepath"
	"testing"
)

// TestLease leases a node twice: the second time after the first gave it back.
func TestLease(t *testing.T) {
	url := "sqlite://" + filepath.Join(t.TempDir(), "flakeid.db")
	last := uint64(0)
	for range [2]int{} {
		generator := must[*Generator](t, nil)(Open(url, "orders"))
		ids := make([]uint64, 1000)
		if count, err := generator.Fill(ids); err != nil || count != len(ids) {
			t.Fatal(count, err)
		}
		for _, id := range ids {
			if id <= last {
				t.Fatalf("%d is not above %d", id, last)
			}
			last = id
		}
		last = handles(t, generator, last)
		generator.Free()
	}
	if _, err := Open(url, "no such"); err == nil {
		t.Fatal("a namespace with a space in its name")
	}
}

// handles makes IDs with a local handle and with a ring, and returns the largest.
func handles(t *testing.T, generator *Generator, last uint64) uint64 {
	local := must[*Local](t, nil)(generator.Local())
	defer local.Free()
	ring := must[*Cached](t, nil)(generator.Cached())
	defer ring.Free()
	seen := map[uint64]bool{}
	largest := last
	for _, next := range []func() (uint64, error){local.NextID, ring.NextID} {
		before := last
		for range [1000]int{} {
			id, err := next()
			if err != nil || id <= before || seen[id] {
				t.Fatal(id, before, err)
			}
			seen[id], before = true, id
		}
		if before > largest {
			largest = before
		}
	}
	return largest
}
