// Generates IDs of a leased node: one, many, and one for each of many rows.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/flakeid/flakeid/go"
)

// Order is {"id":"910499571847892992","item":"tea"} in JSON and a bigint in a database.
type Order struct {
	ID   flakeid.ID `json:"id"`
	Item string     `json:"item"`
}

func run(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	generator, err := flakeid.OpenLease(ctx, url, flakeid.WithNamespace("orders"))
	if errors.Is(err, flakeid.ErrStoreUnavailable) {
		return fmt.Errorf("is the database up? %w", err)
	} else if err != nil {
		return err
	}
	defer generator.Close() // releases the node

	id, err := generator.NextID()
	if err != nil {
		return err
	}
	text, err := json.Marshal(Order{id, "tea"})
	if err != nil {
		return err
	}
	made, err := id.Time(flakeid.Layout{}) // the default layout, which the lease also uses
	if err != nil {
		return err
	}
	fmt.Printf("%s made at %s\n", text, made.Format(time.RFC3339Nano))

	ids, err := generator.AppendIDs(nil, 1000) // the fastest way to generate many IDs
	if err != nil {
		return err
	}
	fmt.Println(len(ids), "from", ids[0], "to", ids[999])

	buffered, err := generator.Buffered(256, 10*time.Millisecond) // for this goroutine
	if err != nil {
		return err
	}
	for _, item := range []string{"cup", "pot", "spoon"} {
		if id, err = buffered.NextID(); err != nil {
			return err
		}
		fmt.Println(Order{id, item})
	}
	return nil
}

func main() {
	url := os.Getenv("FLAKEID_STORE")
	if url == "" {
		url = "sqlite://flakeid.db"
	}
	if err := run(url); err != nil {
		log.Fatal(err)
	}
}
