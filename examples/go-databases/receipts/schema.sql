CREATE TABLE IF NOT EXISTS receipts (
    id bigint PRIMARY KEY,
    corrects bigint REFERENCES receipts,
    customer text NOT NULL
);

CREATE TABLE IF NOT EXISTS receipt_items (
    id bigint PRIMARY KEY,
    receipt_id bigint NOT NULL REFERENCES receipts,
    name text NOT NULL,
    cents bigint NOT NULL
);
