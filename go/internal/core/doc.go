// Package core is the C library flakeid as WebAssembly, translated to Go, for programs that are built without cgo.
// `cargo xtask go` generates it from bindings/c and adds it to the module that users get. It is not in the repository,
// because it would change with every change of the library.
package core
