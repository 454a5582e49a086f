// Reads and writes orders. Only the server imports this file.

import { Generator, decode, lowerBound } from 'flakeid-core';
import pg from 'pg';

const url = process.env.DATABASE_URL;
const pool = new pg.Pool({ connectionString: url });
let generator;

// `pg` returns a bigint column as a string, which is also the form of an ID in JSON.
function order({ id, item }) {
  return { id, item, createdAt: decode(id).timestamp };
}

export async function createOrder(item) {
  // The process leases its node for its first order, and not while Next.js builds the application.
  generator ??= await Generator.lease(url, { namespace: 'orders' });
  const id = await generator.nextIdAsync();
  const sql = 'INSERT INTO orders VALUES ($1, $2) RETURNING id, item';
  const { rows } = await pool.query(sql, [id, item]);
  return order(rows[0]);
}

// Returns the latest orders since a time. The condition uses the index of the primary key.
export async function ordersSince(time) {
  const sql = 'SELECT id, item FROM orders WHERE id >= $1 ORDER BY id DESC LIMIT 100';
  const { rows } = await pool.query(sql, [lowerBound(time)]);
  return rows.map(order);
}
