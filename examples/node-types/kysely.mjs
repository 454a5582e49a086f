// Stores orders in PostgreSQL with Kysely. In JSON, their IDs have prefixes.

import { Generator } from 'flakeid-core';
import { IdText, jsonIds } from 'flakeid-core/json';
import { FlakeIdPlugin, createdBetween } from 'flakeid-core/kysely';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

const generator = new Generator({ node: 7 });
const url = process.env.DATABASE_URL ?? 'postgresql://localhost/app';

const order = new IdText({ prefix: 'ord' });
const { replacer, reviver } = jsonIds({ id: order, again: order });

const db = new Kysely({
  dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
  plugins: [new FlakeIdPlugin({ columns: ['id', 'again'] })],
});
await db.schema
  .createTable('kysely_orders')
  .addColumn('id', 'bigint', (column) => column.primaryKey())
  .addColumn('item', 'text')
  .addColumn('again', 'bigint')
  .execute();

const start = new Date();
const create = async (body) =>
  db
    .insertInto('kysely_orders')
    .values({ id: generator.nextId(), ...JSON.parse(body, reviver) })
    .returningAll()
    .executeTakeFirstOrThrow();
const first = await create('{"item":"tea","again":null}');
await create(`{"item":"tea","again":"${order.write(first.id)}"}`);
// A number is rejected, because a browser would have rounded it.
await create(`{"item":"milk","again":${first.id}}`).catch(({ message }) => console.error(message));

const made = await db
  .selectFrom('kysely_orders')
  .selectAll()
  .where((eb) => createdBetween(eb, 'id', { from: start }))
  .orderBy('id')
  .execute();
console.log(JSON.stringify(made, replacer)); // [{"id":"ord_…","item":"tea","again":null}, …]
await db.destroy();
