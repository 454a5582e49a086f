// Package flakeid generates 64-bit IDs of the Snowflake family: unique, ordered by time, and without a round trip to
// a server.
//
//	generator, err := flakeid.New(flakeid.WithNode(7)) // node 7 of 1024
//	id, err := generator.NextID()
//
// Lease the node instead of choosing it, so that no two processes ever generate the same ID:
//
//	generator, err := flakeid.OpenLease(ctx, "postgresql://db/app", flakeid.WithNamespace("orders"))
//	defer generator.Close() // releases the node
//
// With cgo, the package calls the C library flakeid and finds it with pkg-config. The build tag flakeid_static links
// the library statically. Without cgo (CGO_ENABLED=0), the package contains the library translated to Go. Its
// generators then have a fixed node, or a node that is leased from a broker (http:// or https://).
//
// Any number of goroutines can call all methods at the same time. Functions return errors of the type *Error; compare
// its code with errors.Is(err, flakeid.ErrClockRollback).
package flakeid

// Version returns the version of the library that the package calls, such as "0.1.0".
func Version() string { return libraryVersion() }
