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
// On Linux on x86-64 and ARM64, with cgo, the package contains a slim C library, for fixed nodes and for leases from
// SQLite and brokers. Elsewhere, without cgo (CGO_ENABLED=0) and with the build tag flakeid_pure, the package contains
// the library translated to Go, for fixed nodes and for leases from brokers (http:// or https://). The build tags
// flakeid_shared and flakeid_static select an installed C library, which pkg-config finds, for all stores.
//
// Any number of goroutines can call all methods at the same time. Functions return errors of the type *Error; compare
// its code with errors.Is(err, flakeid.ErrClockRollback).
package flakeid

// Version returns the version of the library that the package calls, such as "0.1.0".
func Version() string { return libraryVersion() }
