CREATE TABLE IF NOT EXISTS orders (
    id bigint PRIMARY KEY,
    item text NOT NULL,
    again bigint REFERENCES orders -- the order that this order repeats
);
