// Stores orders in PostgreSQL with TypeORM. Clients see only the public form of their IDs. With
// decorators, a column is @PrimaryColumn(flakeId()).

import { readFileSync } from 'node:fs';
import { Generator, PublicIds } from 'flakeid-core';
import { IdText, jsonIds } from 'flakeid-core/json';
import { createdBetween, flakeId } from 'flakeid-core/typeorm';
import { DataSource, EntitySchema } from 'typeorm';

const generator = new Generator({ node: 7 });
const url = process.env.DATABASE_URL ?? 'postgresql://localhost/app';

const publicIds = new PublicIds(readFileSync('public.keys', 'utf8'), 'order', { prefix: 'ord' });
const order = new IdText({ publicIds });
const { replacer, reviver } = jsonIds({ id: order, again: order });

const Order = new EntitySchema({
  name: 'typeorm_orders',
  columns: {
    id: { ...flakeId(), primary: true },
    item: { type: 'text' },
    again: { ...flakeId(), nullable: true },
  },
});
const source = new DataSource({ type: 'postgres', url, entities: [Order], synchronize: true });
await source.initialize();
const orders = source.getRepository(Order);

const start = new Date();
const create = async (body) =>
  orders.save({ id: generator.nextId(), ...JSON.parse(body, reviver) });
const first = await create('{"item":"tea","again":null}');
await create(`{"item":"tea","again":"${order.write(first.id)}"}`);
// A number is rejected, because a browser would have rounded it.
await create(`{"item":"milk","again":${first.id}}`).catch(({ message }) => console.error(message));

const made = await orders.find({
  where: { id: createdBetween({ from: start }) },
  order: { id: 'ASC' },
});
console.log(JSON.stringify(made, replacer)); // [{"id":"ord_a…","item":"tea","again":null}, …]
await source.destroy();
