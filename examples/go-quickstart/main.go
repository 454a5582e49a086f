// Generates one ID of node 7, and decodes it.
package main

import (
	"fmt"
	"log"

	"github.com/flakeid/flakeid/go"
)

func main() {
	generator, err := flakeid.New(flakeid.WithNode(7)) // node 7 of 1024
	if err != nil {
		log.Fatal(err)
	}
	id, err := generator.NextID()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := flakeid.Layout{}.Decode(id) // the default layout
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id, "of node", parts.Node, "at", parts.Time)
}
