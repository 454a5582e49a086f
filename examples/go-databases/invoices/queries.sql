-- name: AddInvoice :exec
INSERT INTO invoices (id, corrects, customer) VALUES ($1, $2, $3);

-- name: AddItems :copyfrom
INSERT INTO invoice_items (id, invoice_id, name, cents) VALUES ($1, $2, $3, $4);

-- name: InvoicesBetween :many
SELECT * FROM invoices WHERE id BETWEEN sqlc.arg(lower) AND sqlc.arg(upper) ORDER BY id;

-- name: ItemsOf :many
SELECT * FROM invoice_items WHERE invoice_id = $1 ORDER BY id;
