//go:build flakeid_shared

package flakeid

// #cgo pkg-config: flakeid
import "C"
