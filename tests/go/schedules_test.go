package flakeid

import "testing"

func build(t *testing.T, at row, clock *ManualClock) (*Generator, error) {
	chosen := at.object("options")
	options := Options{
		Layout:       at.text("layout"),
		Node:         at.given(t, "node"),
		Overflow:     int32(place([]string{"wait", "error", "borrow"}, chosen.text("overflow"))),
		Rollback:     int32(place([]string{"continue", "error", "wait", "clock-sequence"}, chosen.text("rollback"))),
		SequenceMask: chosen.given(t, "sequence_mask"),
		MaxAheadMs:   chosen.given(t, "max_ahead_ms"),
		MaxWaitMs:    chosen.given(t, "max_wait_ms"),
		Clock:        clock,
	}
	if window := at.object("window"); window != nil {
		options.Window = &[2]uint64{window.number(t, "start"), window.number(t, "fence")}
	}
	return NewGenerator(options)
}

func checkError(t *testing.T, step row, err error) {
	t.Helper()
	failed, ok := err.(*Error)
	if !ok {
		t.Fatalf("%v: no error of the library", step)
	}
	expect := step.object("expect")
	same(t, step, failed.Code, expect.text("error"))
	for key, actual := range map[string]int64{
		"retry_after_ms": failed.RetryAfterMs, "by_ms": failed.ByMs, "horizon": failed.HorizonMs,
	} {
		expected := int64(-1)
		if expect[key] != nil {
			expected = expect.instant(t, key)
		}
		same(t, step, actual, expected)
	}
}

// play makes a step's call and checks what it gives.
func play(t *testing.T, generator *Generator, step row) {
	t.Helper()
	expect := step.object("expect")
	one := func(id uint64, err error) error {
		if err == nil {
			same(t, step, id, expect.number(t, "id"))
		}
		return err
	}
	many := func(fill func([]uint64) (int, error)) error {
		ids := make([]uint64, step.number(t, "n"))
		count, err := fill(ids)
		if err == nil {
			same(t, step, uint64(count), expect.number(t, "count"))
			if count > 0 {
				same(t, step, ids[0], expect.number(t, "first"))
				same(t, step, ids[count-1], expect.number(t, "last"))
			}
		}
		return err
	}
	var err error
	switch step.text("call") {
	case "next_id":
		err = one(generator.NextID())
	case "try_next_id":
		err = one(generator.TryNextID())
	case "fill":
		err = many(generator.Fill)
	case "try_fill":
		err = many(generator.TryFill)
	case "extend":
		err = generator.Extend(step.number(t, "fence"))
	case "retire":
		var tick uint64
		var issued bool
		if tick, issued, err = generator.Retire(); err == nil {
			same(t, step, issued, expect["last_tick"] != nil)
			if issued {
				same(t, step, tick, expect.number(t, "last_tick"))
			}
		}
	default:
		t.Fatalf("%v: an unknown call", step)
	}
	if err != nil {
		checkError(t, step, err)
	} else if expect["error"] != nil {
		t.Fatalf("%v: no error", step)
	}
}

func TestSchedules(t *testing.T) {
	for _, at := range load(t, "schedules").rows(t, "schedules") {
		clock := must[*ManualClock](t, at)(NewManualClock(at.instant(t, "clock")))
		generator, err := build(t, at, clock)
		if expected := at.object("build_error"); expected != nil {
			refused(t, expected, err)
			clock.Free()
			continue
		}
		generator = must[*Generator](t, at)(generator, err)
		for _, step := range at.rows(t, "steps") {
			if step["clock"] != nil {
				if err := clock.Set(step.instant(t, "clock")); err != nil {
					t.Fatal(err)
				}
			}
			play(t, generator, step)
			same(t, step, must[int64](t, step)(clock.Now()), step.instant(t, "clock_after"))
		}
		waits, rollbacks, ahead, err := generator.Stats()
		if err != nil {
			t.Fatal(err)
		}
		stats := at.object("stats")
		same(t, at, waits, stats.number(t, "waits"))
		same(t, at, rollbacks, stats.number(t, "rollbacks"))
		same(t, at, ahead, stats.number(t, "largest_ahead"))
		generator.Free()
		clock.Free()
	}
}
