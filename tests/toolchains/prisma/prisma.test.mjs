// Sets the IDs of rows with the real client of Prisma, in a real database.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { PrismaPg } from '@prisma/adapter-pg';
import { Generator, decode } from 'flakeid-core';
import { flakeIds } from 'flakeid-core/prisma';

function run(...program) {
  // Only migrations need the schema engine, but the command would download it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' };
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
}

run('node_modules/prisma/build/index.js', 'generate');
const { PrismaClient } = await import('./client/index.js');

const generator = new Generator({ node: 7 });
const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL });
const plain = new PrismaClient({ adapter });
const models = { Customer: 'id', Order: 'id', Tag: 'id' };
// The extension follows another one, which must not hide the schema.
const prisma = plain.$extends({ name: 'other', query: {} }).$extends(flakeIds(generator, models));

const TABLES = [
  'nested_customers (id bigint PRIMARY KEY, name text)',
  'nested_orders (id bigint PRIMARY KEY, item text, "customerId" bigint REFERENCES nested_customers)',
  'nested_tags (id bigint PRIMARY KEY, name text UNIQUE, data text)',
  'nested_labels (code text PRIMARY KEY, "tagId" bigint UNIQUE REFERENCES nested_tags)',
  '"_OrderToTag" ("A" bigint REFERENCES nested_orders, "B" bigint REFERENCES nested_tags, UNIQUE ("A", "B"))',
];

before(async () => {
  for (const table of TABLES) await plain.$executeRawUnsafe(`CREATE TABLE ${table}`);
});
after(async () => {
  const names = TABLES.map((table) => table.split(' ')[0]);
  await plain.$executeRawUnsafe(`DROP TABLE ${names.reverse().join(', ')}`);
  await plain.$disconnect();
});

const tagged = { orders: { include: { tags: true }, orderBy: { id: 'asc' } } };

test('nested writes of a new row get IDs', async () => {
  const customer = await prisma.customer.create({
    data: {
      name: 'Ann',
      orders: {
        create: [
          {
            item: 'tea',
            tags: { connectOrCreate: { where: { name: 'hot' }, create: { name: 'hot' } } },
          },
          { item: 'milk' },
        ],
        createMany: { data: [{ item: 'water' }, { id: 5n, item: 'juice' }] },
      },
    },
    include: tagged,
  });
  const byItem = Object.fromEntries(customer.orders.map((order) => [order.item, order]));
  assert.deepEqual(Object.keys(byItem).sort(), ['juice', 'milk', 'tea', 'water']);
  assert.equal(byItem.juice.id, 5n);
  const [tag] = byItem.tea.tags;
  for (const { id } of [customer, byItem.tea, byItem.milk, byItem.water, tag]) {
    assert.equal(decode(id).node, 7);
  }
  assert.equal(customer.id < byItem.tea.id && byItem.tea.id < tag.id, true);
});

test('nested writes of updates get IDs', async () => {
  const { id, orders } = await prisma.customer.create({
    data: { name: 'Ben', orders: { create: { item: 'tea' } } },
    include: tagged,
  });
  const changed = await prisma.customer.update({
    where: { id },
    data: {
      orders: {
        create: { item: 'milk' },
        update: {
          where: { id: orders[0].id },
          data: { item: 'green tea', tags: { create: [{ name: 'green' }] } },
        },
        upsert: [{ where: { id: 1n }, create: { item: 'water' }, update: { item: 'never' } }],
      },
    },
    include: tagged,
  });
  const items = changed.orders.map(({ item }) => item).sort();
  assert.deepEqual(items, ['green tea', 'milk', 'water']);
  const [green] = changed.orders.flatMap(({ tags }) => tags);
  assert.equal(decode(green.id).node, 7);
});

test('updates of a single related row get IDs in both forms', async () => {
  const order = await prisma.order.create({
    data: { item: 'tea', tags: { create: { name: 'single', label: { create: { code: 'a' } } } } },
    include: { tags: true },
  });
  assert.equal(decode(order.tags[0].id).node, 7);
  const nested = (name) => ({ orders: { create: { item: name } } });
  const label = async (tag) => {
    const { tag: found } = await prisma.label.update({
      where: { code: 'a' },
      data: { tag: { update: tag } },
      include: { tag: { include: { orders: true } } },
    });
    return [found.data, found.orders.map(({ item }) => item).sort()];
  };
  assert.deepEqual(await label({ data: 'x', ...nested('milk') }), ['x', ['milk', 'tea']]);
  assert.deepEqual(
    await label({ where: { name: 'single' }, data: { data: 'y', ...nested('water') } }),
    ['y', ['milk', 'tea', 'water']],
  );
});

test('upserts and transactions set IDs', async () => {
  const upserted = await prisma.order.upsert({
    where: { id: 3n },
    create: { item: 'tea', tags: { create: { name: 'upserted' } } },
    update: {},
    include: { tags: true },
  });
  assert.equal(decode(upserted.tags[0].id).node, 7);
  await prisma.$transaction(async (client) => {
    const { customer } = await client.order.create({
      data: { item: 'tea', customer: { create: { name: 'Cem' } } },
      include: { customer: true },
    });
    assert.equal(decode(customer.id).node, 7);
  });
});

test('the extension rejects models that the schema does not contain', () => {
  const code = 'FLAKEID_INVALID_OPTION';
  const extend = (wrong) => () => plain.$extends(flakeIds(generator, wrong));
  assert.throws(extend({ order: 'id' }), {
    code,
    message:
      'models.order: the schema has no such model; its models are Customer, Label, Order, Tag',
  });
  assert.throws(extend({ Tag: 'ID' }), {
    code,
    message:
      "models.Tag: the model has no field 'ID'; its fields are data, id, label, name, orders",
  });
});

test('the extension keeps the types of the client', () => {
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
});
