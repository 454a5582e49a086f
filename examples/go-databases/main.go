// Writes rows with GORM, pgx and sqlc to the PostgreSQL database in the first argument. The IDs come from a lease in
// the same database.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/flakeid/flakeid/go"
)

func run(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	generator, err := flakeid.OpenLease(ctx, url, flakeid.WithNamespace("orders"))
	if err != nil {
		return err
	}
	defer generator.Close()
	if err := withGorm(url, generator); err != nil {
		return fmt.Errorf("GORM: %w", err)
	}
	if err := withPgx(ctx, url, generator); err != nil {
		return fmt.Errorf("pgx: %w", err)
	}
	if err := withSqlc(ctx, url, generator); err != nil {
		return fmt.Errorf("sqlc: %w", err)
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: databases postgresql://...")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
