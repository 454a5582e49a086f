// The program compares flakeid's Go module with its rivals and the floor in one run. It prints Markdown, and with
// --json also writes the figures to a file. See README.md.
package main

/*
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
static uint64_t nothing(uint64_t id) { return id; }

// On processors whose counter flakeid does not read, its default is the system's clock.
static uint64_t counter(void) {
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
#endif
}

static _Atomic uint64_t word;
static volatile uint64_t read_last;

static uint64_t counted(void) {
	uint64_t before = atomic_load_explicit(&word, memory_order_relaxed);
	read_last = counter();
	while (!atomic_compare_exchange_weak_explicit(
		&word, &before, before + 1, memory_order_relaxed, memory_order_relaxed)) {
	}
	return before + 1;
}
*/
import "C"

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/flakeid/flakeid/go"
)

func main() {
	quick := flag.Bool("quick", false, "a smoke run, whose figures mean little")
	file := flag.String("json", "", "write the figures to this file, too")
	flag.Parse()
	plan := plan{rounds: 101, round: 20 * time.Millisecond, second: time.Second}
	if *quick {
		plan.rounds, plan.round, plan.second = 5, 2*time.Millisecond, 200*time.Millisecond
	}
	facts := fmt.Sprintf("%s; flakeid %s", runtime.Version(), flakeid.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, rival := range info.Deps {
			if rival.Replace == nil {
				facts += fmt.Sprintf(", %s %s", rival.Path[len("github.com/"):], rival.Version)
			}
		}
	}
	facts += fmt.Sprintf("; %d rounds of %v a row", plan.rounds, plan.round)

	store, err := os.MkdirTemp("", "flakeid-bench")
	check(err)
	defer os.RemoveAll(store)
	costs := newCosts("sqlite://" + store + "/flakeid.db")
	sample(costs.all(), plan)
	report{facts, costs, atTheCeiling(plan.second), waitsAtTheCeiling(plan.second)}.write(*file)
}

// plan is the extent of the measurements.
type plan struct {
	rounds        int
	round, second time.Duration
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// intoC makes an empty call through cgo.
func intoC(id uint64) uint64 { return uint64(C.nothing(C.uint64_t(id))) }

// counted makes the smallest call that could return an exact ID in C: it reads the processor's counter and makes one
// compare-and-swap.
func counted() uint64 { return uint64(C.counted()) }
