package main

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/flakeid/flakeid/go"
	"github.com/jackc/pgx/v5"

	"flakeid.example/databases/receipts"
)

//go:embed receipts/schema.sql
var schema string

func withSqlc(ctx context.Context, url string, generator *flakeid.Generator) error {
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	if _, err := connection.Exec(ctx, schema); err != nil {
		return err
	}
	queries := receipts.New(connection)
	ids, err := generator.AppendIDs(nil, 4)
	if err != nil {
		return err
	}
	if err := queries.AddReceipt(ctx, receipts.AddReceiptParams{ID: ids[0], Customer: "Ada"}); err != nil {
		return err
	}
	correction := receipts.AddReceiptParams{ID: ids[1], Corrects: &ids[0], Customer: "Ada"}
	if err := queries.AddReceipt(ctx, correction); err != nil {
		return err
	}
	_, err = queries.AddItems(ctx, []receipts.AddItemsParams{
		{ID: ids[2], ReceiptID: ids[1], Name: "tea", Cents: 250},
		{ID: ids[3], ReceiptID: ids[1], Name: "cup", Cents: 900},
	})
	if err != nil {
		return err
	}
	found, err := queries.ReceiptsBetween(ctx, receipts.ReceiptsBetweenParams{Lower: ids[0], Upper: ids[1]})
	if err != nil {
		return err
	}
	items, err := queries.ItemsOf(ctx, ids[1])
	if err != nil {
		return err
	}
	if len(found) != 2 || found[0].Corrects != nil || *found[1].Corrects != ids[0] || len(items) != 2 {
		return fmt.Errorf("found %+v with %+v for %v", found, items, ids)
	}
	fmt.Println("sqlc:", found[1].ID, "corrects", *found[1].Corrects, "and has the item", items[0].ID)
	return nil
}
