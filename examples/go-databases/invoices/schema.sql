CREATE TABLE IF NOT EXISTS invoices (
    id bigint PRIMARY KEY,
    corrects bigint REFERENCES invoices,
    customer text NOT NULL
);

CREATE TABLE IF NOT EXISTS invoice_items (
    id bigint PRIMARY KEY,
    invoice_id bigint NOT NULL REFERENCES invoices,
    name text NOT NULL,
    cents bigint NOT NULL
);
