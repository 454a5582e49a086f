package flakeid

import (
	"sort"
	"sync"
	"testing"
)

// TestThreads makes ten million IDs from several goroutines of one generator, none twice.
func TestThreads(t *testing.T) {
	const goroutines, share, run = 4, 2_500_000, 1000
	node, wait := uint64(5), uint64(60_000)
	generator := must[*Generator](t, nil)(NewGenerator(Options{Node: &node, MaxWaitMs: &wait}))
	defer generator.Free()
	ids := make([]uint64, goroutines*share)
	var all sync.WaitGroup
	for worker := 0; worker < goroutines; worker++ {
		all.Add(1)
		go func(mine []uint64) {
			defer all.Done()
			for done := 0; done < share; {
				end := done + run
				if end > share {
					end = share
				}
				count, err := generator.Fill(mine[done:end])
				if err != nil {
					t.Error(err)
					return
				}
				done += count
				for single := 0; single < run && done < share; single++ {
					id, err := generator.NextID()
					if err != nil {
						t.Error(err)
						return
					}
					mine[done] = id
					done++
				}
			}
			for index := 1; index < share; index++ {
				if mine[index-1] >= mine[index] {
					t.Error("out of order within a goroutine")
					return
				}
			}
		}(ids[worker*share : (worker+1)*share])
	}
	all.Wait()
	sort.Slice(ids, func(a, b int) bool { return ids[a] < ids[b] })
	for index := 1; index < len(ids); index++ {
		if ids[index-1] == ids[index] {
			t.Fatalf("%d was issued twice", ids[index])
		}
	}
}
