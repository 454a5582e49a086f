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
		generator.Free()
	}
	if _, err := Open(url, "no such"); err == nil {
		t.Fatal("a namespace with a space in its name")
	}
}
