// The extension keeps the types of the client.

import { Generator } from 'flakeid-core';
import { createdBetween, flakeIds } from 'flakeid-core/prisma';

import { PrismaClient } from './client/index.js';

declare const adapter: never;

const generator = new Generator({ node: 1 });
const prisma = new PrismaClient({ adapter }).$extends(flakeIds(generator, { Order: 'id' }));
const order = await prisma.order.create({
  data: { item: 'tea', tags: { create: { name: 'new' } } },
  include: { tags: true },
});
const id: bigint = order.id;
const names: string[] = order.tags.map((tag) => tag.name);
// @ts-expect-error the model has no such field
order.unknown;
await prisma.$transaction(async (client) => {
  const customers = await client.customer.findMany({ where: { id: createdBetween({ from: id }) } });
  return [...names, ...customers.map((customer) => customer.name)];
});
