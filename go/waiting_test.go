package flakeid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flakeid/flakeid/go"
)

// hourly returns a generator whose first tick begins at the next full hour, and has one ID.
func hourly(t *testing.T, node uint64) *flakeid.Generator {
	layout := must[flakeid.Layout](t, nil)(flakeid.ParseLayout("t30.n8.s8@0/3600000ms"))
	return must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithLayout(layout), flakeid.WithNode(node),
		flakeid.WithSequenceMask(0), flakeid.WithMaxWait(2*time.Hour)))
}

// TestContextEndsWaits ends calls that would wait for an hour, first the call that waits in the library, and then the
// calls that wait for it.
func TestContextEndsWaits(t *testing.T) {
	t.Parallel()
	generator := hourly(t, 1)
	next := func(ctx context.Context) error {
		_, err := generator.NextIDContext(ctx)
		return err
	}
	fill := func(ctx context.Context) error {
		_, err := generator.FillContext(ctx, make([]flakeid.ID, 2))
		return err
	}
	const callers = 4
	begun := time.Now()
	ended := make(chan error, callers)
	for caller := 0; caller < callers; caller++ {
		call := []func(context.Context) error{next, fill}[caller%2]
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(caller)*50*time.Millisecond)
		defer cancel()
		go func() { ended <- call(ctx) }()
	}
	for caller := 0; caller < callers; caller++ {
		err := <-ended
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, flakeid.ErrSequenceExhausted) {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Error(took)
	}
}

// TestEndedContext gets an ID that is available with a context that has ended.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	generator := must[*flakeid.Generator](t, nil)(flakeid.New(flakeid.WithNode(41)))
	must[flakeid.ID](t, nil)(generator.NextID())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must[flakeid.ID](t, nil)(generator.NextIDContext(ctx))
	ids := make([]flakeid.ID, 100)
	if count, err := generator.FillContext(ctx, ids); count != len(ids) || err != nil {
		t.Error(count, err)
	}
}
