// Stores orders in PostgreSQL with Prisma. In JSON, their IDs are public IDs.

import { readFileSync } from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import { Generator, PublicIds } from 'flakeid-core';
import { IdText, jsonIds } from 'flakeid-core/json';
import { createdBetween, flakeIds } from 'flakeid-core/prisma';
import { PrismaClient } from './client/index.js';

const generator = new Generator({ node: 7 });
const connectionString = process.env.DATABASE_URL ?? 'postgresql://localhost/app';

const publicIds = new PublicIds(readFileSync('public.keys', 'utf8'), 'order', { prefix: 'ord' });
const order = new IdText({ publicIds });
const { replacer, reviver } = jsonIds({ id: order, again: order });

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) }).$extends(
  flakeIds(generator, { Order: 'id' }),
);
await prisma.$executeRaw`
  CREATE TABLE prisma_orders (id bigint PRIMARY KEY, item text NOT NULL, again bigint)`;

const start = new Date();
const create = async (body) => prisma.order.create({ data: JSON.parse(body, reviver) });
const first = await create('{"item":"tea","again":null}');
await create(`{"item":"tea","again":"${order.write(first.id)}"}`);
// A number is rejected, because a browser would have rounded it.
await create(`{"item":"milk","again":${first.id}}`).catch(({ message }) => console.error(message));

const made = await prisma.order.findMany({
  where: { id: createdBetween({ from: start }) },
  orderBy: { id: 'asc' },
});
console.log(JSON.stringify(made, replacer)); // [{"id":"ord_…","item":"tea","again":null}, …]
await prisma.$disconnect();
