-- name: AddReceipt :exec
INSERT INTO receipts (id, corrects, customer) VALUES ($1, $2, $3);

-- name: AddItems :copyfrom
INSERT INTO receipt_items (id, receipt_id, name, cents) VALUES ($1, $2, $3, $4);

-- name: ReceiptsBetween :many
SELECT * FROM receipts WHERE id BETWEEN sqlc.arg(lower) AND sqlc.arg(upper) ORDER BY id;

-- name: ItemsOf :many
SELECT * FROM receipt_items WHERE receipt_id = $1 ORDER BY id;
