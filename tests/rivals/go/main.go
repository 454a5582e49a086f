// Command rivals prints ten IDs of each Go package: see ../README.md.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake"
	"github.com/yitter/idgenerator-go/idgen"
)

// show prints ten IDs, generated 3 ms apart.
func show[T int64 | uint64](name, layout string, next func() (T, error)) {
	fmt.Printf("%s\t%s", name, layout)
	for range [10]struct{}{} {
		time.Sleep(3 * time.Millisecond)
		id, err := next()
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		fmt.Printf("\t%d", id)
	}
	fmt.Println()
}

func main() {
	node, err := snowflake.NewNode(77)
	if err != nil {
		log.Fatal(err)
	}
	show("bwmarrin/snowflake", "twitter", func() (int64, error) { return node.Generate().Int64(), nil })

	// This is the machine ID of a host with the address 10.0.31.39.
	machine := func() (uint16, error) { return 31<<8 | 39, nil }
	one, err := sonyflake.New(sonyflake.Settings{MachineID: machine})
	if err != nil {
		log.Fatal(err)
	}
	show("sonyflake 1", "sonyflake", one.NextID)

	idgen.SetIdGenerator(idgen.NewIdGeneratorOptions(3))
	show("yitter", "js-safe", func() (int64, error) { return idgen.NextId(), nil })
}
