package flakeid_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

func build(t *testing.T, at row, clock *flakeid.ManualClock) (*flakeid.Generator, error) {
	chosen := at.object("options")
	options := []flakeid.Option{
		flakeid.WithLayout(layout(t, at.text("layout"))),
		flakeid.WithNode(at.number(t, "node")),
		flakeid.WithOverflow(flakeid.Overflow(place([]string{"wait", "error", "borrow"}, chosen.text("overflow")))),
		flakeid.WithRollback(flakeid.Rollback(
			place([]string{"continue", "error", "wait", "clock-sequence"}, chosen.text("rollback")))),
		flakeid.WithManualClock(clock),
	}
	if mask := chosen.given(t, "sequence_mask"); mask != nil {
		options = append(options, flakeid.WithSequenceMask(*mask))
	}
	if ahead := chosen.given(t, "max_ahead_ms"); ahead != nil {
		options = append(options, flakeid.WithMaxAhead(time.Duration(*ahead)*time.Millisecond))
	}
	if wait := chosen.given(t, "max_wait_ms"); wait != nil {
		options = append(options, flakeid.WithMaxWait(time.Duration(*wait)*time.Millisecond))
	}
	if window := at.object("window"); window != nil {
		options = append(options, flakeid.WithWindow(window.number(t, "start"), window.number(t, "fence")))
	}
	return flakeid.New(options...)
}

func checkError(t *testing.T, step row, err error) {
	t.Helper()
	var failed *flakeid.Error
	if !errors.As(err, &failed) {
		t.Fatalf("%v: not an error of the library: %v", step, err)
	}
	expect := step.object("expect")
	same(t, step, failed.Code.String(), expect.text("error"))
	for key, actual := range map[string]time.Duration{
		"retry_after_ms": failed.RetryAfter, "by_ms": failed.Rollback,
	} {
		expected := time.Duration(-1)
		if expect[key] != nil {
			expected = time.Duration(expect.number(t, key)) * time.Millisecond
		}
		same(t, step, actual, expected)
	}
	var horizon time.Time
	if expect["horizon"] != nil {
		horizon = expect.moment(t, "horizon")
	}
	same(t, step, failed.Horizon, horizon)
}

// play makes the call of a step and checks its result.
func play(t *testing.T, generator *flakeid.Generator, step row) {
	t.Helper()
	expect := step.object("expect")
	one := func(id flakeid.ID, err error) error {
		if err == nil {
			same(t, step, uint64(id), expect.number(t, "id"))
		}
		return err
	}
	many := func(fill func([]flakeid.ID) (int, error)) error {
		ids := make([]flakeid.ID, step.number(t, "n"))
		count, err := fill(ids)
		if err == nil {
			same(t, step, uint64(count), expect.number(t, "count"))
			if count > 0 {
				same(t, step, uint64(ids[0]), expect.number(t, "first"))
				same(t, step, uint64(ids[count-1]), expect.number(t, "last"))
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
		t.Fatalf("%v: unknown call", step)
	}
	if err != nil {
		checkError(t, step, err)
	} else if expect["error"] != nil {
		t.Fatalf("%v: no error", step)
	}
}

func TestSchedules(t *testing.T) {
	for _, at := range load(t, "schedules").rows(t, "schedules") {
		clock := flakeid.NewManualClock(at.moment(t, "clock"))
		generator, err := build(t, at, clock)
		if expected := at.object("build_error"); expected != nil {
			if expected["field"] != nil {
				// The vectors name the option "node".
				expected["field"] = "With" + strings.ToUpper(expected.text("field")[:1]) + expected.text("field")[1:]
			}
			refused(t, expected, err)
			continue
		}
		generator = must[*flakeid.Generator](t, at)(generator, err)
		for _, step := range at.rows(t, "steps") {
			if step["clock"] != nil {
				clock.Set(step.moment(t, "clock"))
			}
			play(t, generator, step)
			same(t, step, clock.Now(), step.moment(t, "clock_after"))
		}
		expected := at.object("stats")
		same(t, at, must[flakeid.Stats](t, at)(generator.Stats()), flakeid.Stats{
			Waits: expected.number(t, "waits"), Rollbacks: expected.number(t, "rollbacks"),
			LargestAhead: expected.number(t, "largest_ahead"),
		})
	}
}
