package flakeid

import (
	"context"
	"fmt"
	"time"
)

// CreateNamespace creates the namespace name in the store at url, with the tables or keys that the store needs for it,
// unless the namespace exists. The name consists of 1 to 64 characters of A-Z a-z 0-9 . _ -. CreateNamespace returns
// the time until the store can grant nodes.
//
// A server cannot distinguish a namespace that never existed from a namespace that it has lost. Therefore, the store
// grants nothing until all leases that it may have lost have ended: 15 s with the default bounds, and the first IDs are
// then up to 18 s ahead of the clock. Each assumed bound is the larger of the default bound and the given bound.
// If the lost namespace may have had larger bounds, create it with the command flakeid leases init --lost. An
// embedded store (sqlite) detects its losses, so its nodes can usually be leased at once.
//
// If the namespace already exists with the same layout, the same blocks and the given options, nothing changes, so
// every process can call CreateNamespace when it starts. If the namespace exists with another value of a given option,
// CreateNamespace returns ErrInvalidOption; with another layout or other blocks, ErrStoreRejected. On a database
// server, the function requires a user who may create tables.
//
// A program that was built without cgo connects only to brokers, and therefore cannot create namespaces.
//
// If ctx ends first, CreateNamespace returns the context's error immediately; the namespace may still be created.
func CreateNamespace(
	ctx context.Context, url, name string, options ...NamespaceOption,
) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("flakeid: the namespace was not created: %w", err)
	}
	var s settings
	for index, option := range options {
		if option == nil {
			return 0, nilOption(index)
		}
		option.setNamespace(&s)
	}
	if s.err != nil {
		return 0, s.err
	}
	for _, text := range [][2]string{{"url", url}, {"name", name}} {
		if err := checkNul(text[0], text[1]); err != nil {
			return 0, err
		}
	}
	type created struct {
		wait time.Duration
		err  error
	}
	done := make(chan created, 1)
	go func() {
		wait, err := createNamespace(url, name, &s)
		done <- created{wait, err}
	}()
	select {
	case result := <-done:
		return result.wait, result.err
	case <-ctx.Done():
		return 0, fmt.Errorf("flakeid: the namespace was not created in time: %w", ctx.Err())
	}
}
