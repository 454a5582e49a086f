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
// The package calls the C library flakeid through cgo and finds it with pkg-config. The build tag flakeid_static
// links it statically.
//
// Any number of goroutines can call all methods at the same time. Functions return errors of the type *Error; compare
// its code with errors.Is(err, flakeid.ErrClockRollback).
package flakeid

// #include "shim.h"
import "C"

// Version returns the version of the loaded C library, such as "0.1.0".
func Version() string { return C.GoString(C.flakeid_version()) }
