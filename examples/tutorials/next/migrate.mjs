// Creates the table and the namespace. Run it once: node migrate.mjs.

import { readFile } from 'node:fs/promises';
import { createNamespace } from 'flakeid-core';
import pg from 'pg';

const url = process.env.DATABASE_URL;
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(await readFile('schema.sql', 'utf8'));
await client.end();
// The option `fresh` states that the database never had a namespace of this name.
await createNamespace(url, 'orders', { fresh: true });
