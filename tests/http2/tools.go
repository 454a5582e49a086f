//go:build tools

// Package tools names the program that a test of the gRPC server runs, so that go.sum covers the program.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
