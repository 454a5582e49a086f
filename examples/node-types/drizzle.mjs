// Stores orders in PostgreSQL with Drizzle; zod describes the input and the output.

import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { Generator } from 'flakeid-core';
import { createdBetween, flakeId as idColumn } from 'flakeid-core/drizzle';
import { flakeId } from 'flakeid-core/zod';
import { z } from 'zod';

const generator = new Generator({ node: 7 });
const url = process.env.DATABASE_URL ?? 'postgresql://localhost/app';

const orders = pgTable('drizzle_orders', {
  id: idColumn()
    .primaryKey()
    .$defaultFn(() => generator.nextId()),
  item: text().notNull(),
  again: idColumn(), // the order that this order repeats
});

const NewOrder = z.object({ item: z.string(), again: flakeId().nullable() });
const Orders = z.array(z.object({ id: flakeId(), item: z.string(), again: flakeId().nullable() }));

const db = drizzle(url);
await db.execute('CREATE TABLE drizzle_orders (id bigint PRIMARY KEY, item text, again bigint)');

const start = new Date();
const create = async (body) =>
  db
    .insert(orders)
    .values(NewOrder.parse(JSON.parse(body)))
    .returning();
const [first] = await create('{"item":"tea","again":null}');
await create(`{"item":"tea","again":"${first.id}"}`);
// A number is rejected, because a browser would have rounded it.
await create(`{"item":"milk","again":${first.id}}`).catch(({ message }) => console.error(message));

const made = await db
  .select()
  .from(orders)
  .where(createdBetween(orders.id, { from: start }))
  .orderBy(orders.id);
console.log(JSON.stringify(z.encode(Orders, made))); // [{"id":"…","item":"tea","again":null}, …]
await db.$client.end();
