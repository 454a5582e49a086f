package main

import (
	"context"
	_ "embed"
	"time"

	"github.com/flakeid/flakeid/go"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Order is a row, and {"id":"911224316387893248","item":"tea","again":null} in JSON. An ID is a string in JSON, because
// browsers round large numbers.
type Order struct {
	ID    flakeid.ID  `json:"id"`
	Item  string      `json:"item"`
	Again *flakeid.ID `json:"again"` // the order that this order repeats
}

// Store reads and writes orders.
type Store struct {
	pool      *pgxpool.Pool
	generator *flakeid.Generator
}

//go:embed schema.sql
var schema string

// OpenStore connects to the database, creates the table if it does not exist, and leases a node.
func OpenStore(ctx context.Context, url string) (*Store, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, err
	}
	generator, err := flakeid.OpenLease(ctx, url, flakeid.WithNamespace("orders"))
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{pool, generator}, nil
}

// Close releases the node, and closes the connections.
func (s *Store) Close() {
	s.generator.Close()
	s.pool.Close()
}

// Create gives an order its ID, and inserts it.
func (s *Store) Create(ctx context.Context, order *Order) error {
	id, err := s.generator.NextID()
	if err != nil {
		return err
	}
	order.ID = id
	_, err = s.pool.Exec(ctx, "INSERT INTO orders VALUES ($1, $2, $3)", order.ID, order.Item, order.Again)
	return err
}

// CreateAll gives each order its ID, and inserts all orders with one command.
func (s *Store) CreateAll(ctx context.Context, orders []Order) error {
	ids, err := s.generator.AppendIDs(nil, len(orders))
	if err != nil {
		return err
	}
	rows := make([][]any, len(orders))
	for index := range orders {
		order := &orders[index]
		order.ID = ids[index]
		rows[index] = []any{order.ID, order.Item, order.Again}
	}
	_, err = s.pool.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "item", "again"}, pgx.CopyFromRows(rows))
	return err
}

// Find returns the order with the ID, or pgx.ErrNoRows.
func (s *Store) Find(ctx context.Context, id flakeid.ID) (Order, error) {
	rows, err := s.pool.Query(ctx, "SELECT id, item, again FROM orders WHERE id = $1", id)
	if err != nil {
		return Order{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Order])
}

// Between returns the first hundred orders that were created from one time on, and before another time. The condition
// uses the index of the primary key, so the table needs no column for the time.
func (s *Store) Between(ctx context.Context, since, until time.Time) ([]Order, error) {
	var layout flakeid.Layout // the default layout, which the namespace uses
	rows, err := s.pool.Query(ctx,
		"SELECT id, item, again FROM orders WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 100",
		layout.LowerBound(since), layout.LowerBound(until))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Order])
}
