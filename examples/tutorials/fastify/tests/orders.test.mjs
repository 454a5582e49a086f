// Tests of the routes, which use the database in DATABASE_URL.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Generator } from 'flakeid-core';
import { buildApp } from '../app.mjs';

const url = process.env.DATABASE_URL;
const db = drizzle(url);
let generator;
let app;

before(async () => {
  generator = await Generator.lease(url, { namespace: 'orders' });
  app = buildApp(db, generator);
});

after(async () => {
  await app.close();
  await generator.close();
  await db.$client.end();
});

async function create(order) {
  const response = await app.inject({ method: 'POST', url: '/orders', payload: order });
  assert.equal(response.statusCode, 201, response.body);
  return response.json();
}

test('IDs are strings that increase', async () => {
  const [first, second] = [await create({ item: 'tea' }), await create({ item: 'coffee' })];
  assert.equal(typeof first.id, 'string');
  assert.ok(BigInt(first.id) < BigInt(second.id));
});

test('an order repeats an earlier order', async () => {
  const first = await create({ item: 'tea' });
  const second = await create({ item: 'tea', again: first.id });
  const found = await app.inject(`/orders/${second.id}`);
  assert.equal(found.json().again, first.id);
});

test('an ID that is a number is rejected', async () => {
  const first = await create({ item: 'tea' });
  const payload = { item: 'tea', again: Number(first.id) };
  const response = await app.inject({ method: 'POST', url: '/orders', payload });
  assert.equal(response.statusCode, 400);
  assert.match(response.body, /again/);
});

test('the time of an order selects it', async () => {
  const order = await create({ item: 'tea' });
  assert.ok(Math.abs(Date.now() - Date.parse(order.createdAt)) < 10_000);
  const ids = async (period) => {
    const response = await app.inject(`/orders?${new URLSearchParams(period)}`);
    return response.json().map(({ id }) => id);
  };
  assert.ok((await ids({ since: order.createdAt })).includes(order.id));
  const before = { since: '2020-01-01T00:00:00Z', until: order.createdAt };
  assert.ok(!(await ids(before)).includes(order.id));
});

test('concurrent orders have distinct IDs', async () => {
  const created = await Promise.all(Array.from({ length: 200 }, () => create({ item: 'tea' })));
  assert.equal(new Set(created.map(({ id }) => id)).size, 200);
});
