// Prints an ID of node 7, or of a node leased from the store in the first argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/flakeid/flakeid/go"
)

func open() (*flakeid.Generator, error) {
	if len(os.Args) > 1 {
		return flakeid.OpenLease(context.Background(), os.Args[1])
	}
	return flakeid.New(flakeid.WithNode(7))
}

func main() {
	generator, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer generator.Close() // releases a leased node
	id, err := generator.NextID()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
