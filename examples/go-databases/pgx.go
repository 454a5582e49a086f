package main

import (
	"context"
	"fmt"

	"github.com/flakeid/flakeid/go"
	"github.com/jackc/pgx/v5"
)

func withPgx(ctx context.Context, url string, generator *flakeid.Generator) error {
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	_, err = connection.Exec(ctx, "CREATE TABLE IF NOT EXISTS parts (id bigint PRIMARY KEY, parent bigint, name text)")
	if err != nil {
		return err
	}
	ids, err := generator.AppendIDs(nil, 3)
	if err != nil {
		return err
	}
	// A flakeid.ID is a parameter, a column of a result, and an element of an array. A *flakeid.ID can be NULL.
	_, err = connection.Exec(ctx, "INSERT INTO parts VALUES ($1, NULL, 'pot')", ids[0])
	if err != nil {
		return err
	}
	rows := [][]any{{ids[1], ids[0], "lid"}, {ids[2], ids[0], "spout"}}
	_, err = connection.CopyFrom(ctx, pgx.Identifier{"parts"}, []string{"id", "parent", "name"}, pgx.CopyFromRows(rows))
	if err != nil {
		return err
	}
	found, err := connection.Query(ctx, "SELECT id, parent FROM parts WHERE id = ANY($1) ORDER BY id", ids)
	if err != nil {
		return err
	}
	type item struct {
		ID     flakeid.ID
		Parent *flakeid.ID
	}
	items, err := pgx.CollectRows(found, pgx.RowToStructByPos[item])
	if err != nil {
		return err
	}
	if len(items) != 3 || items[0].ID != ids[0] || items[0].Parent != nil || *items[2].Parent != ids[0] {
		return fmt.Errorf("found %+v for %v", items, ids)
	}
	// A flakeid.IDAsUUID is a parameter and a column of the type uuid.
	var parcel flakeid.IDAsUUID
	if err := connection.QueryRow(ctx, "SELECT $1::uuid", flakeid.IDAsUUID(ids[0])).Scan(&parcel); err != nil {
		return err
	}
	if flakeid.ID(parcel) != ids[0] {
		return fmt.Errorf("%v is not %v", parcel, ids[0])
	}
	fmt.Println("pgx:", items[0].ID, "has the parts", items[1].ID, "and", items[2].ID)
	return nil
}
