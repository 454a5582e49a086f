//go:build flakeid_static

package flakeid

// #cgo pkg-config: flakeid-static
import "C"
