//go:build !flakeid_pure && !flakeid_shared && !flakeid_static && linux && (amd64 || arm64)

package flakeid

// #cgo CFLAGS: -I${SRCDIR}/slim
// #cgo amd64 LDFLAGS: ${SRCDIR}/slim/linux_amd64/libflakeid.a -lpthread -ldl -lm
// #cgo arm64 LDFLAGS: ${SRCDIR}/slim/linux_arm64/libflakeid.a -lpthread -ldl -lm
import "C"
