// Package core is the C library flakeid as WebAssembly, translated to Go, for programs that are built without cgo.
// `cargo xtask go` generates it from bindings/c and adds it to the module that users get. Git ignores it in this folder,
// because it would change with every change of the library.
package core
