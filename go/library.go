//go:build !flakeid_pure && (flakeid_shared || (!flakeid_static && linux && (amd64 || arm64)))

package flakeid

// #cgo pkg-config: flakeid
import "C"
