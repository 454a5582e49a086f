// Package flakeid makes 64-bit IDs of the Snowflake family: unique, in order of time, and without a
// round trip to a server.
//
//	generator, err := flakeid.New(flakeid.WithNode(7)) // node 7 of 1024
//	id, err := generator.NextID()
//
// To have the node leased instead of choosing it, so that no two processes ever make the same ID:
//
//	generator, err := flakeid.OpenLease(ctx, "postgresql://db/app", flakeid.WithNamespace("orders"))
//	defer generator.Close() // gives the node back
//
// The package calls the C library flakeid through cgo and finds it by pkg-config. With the build tag
// flakeid_static it is linked into the program.
//
// All methods may be called by any number of goroutines at the same time. What a function refuses is an
// *Error, whose kind is compared by errors.Is(err, flakeid.ErrClockRollback).
package flakeid

// #include "shim.h"
import "C"

// Version is the version of the C library that the program found, such as "0.1.0".
func Version() string { return C.GoString(C.flakeid_version()) }
