// Sends requests to the running application.

import assert from 'node:assert/strict';
import { test } from 'node:test';

const origin = `http://localhost:${process.env.PORT ?? 3000}`;

async function create(item) {
  const body = JSON.stringify({ item });
  const response = await fetch(`${origin}/api/orders`, { method: 'POST', body });
  assert.equal(response.status, 201);
  return response.json();
}

async function since(time) {
  const response = await fetch(`${origin}/api/orders?since=${time}`);
  return (await response.json()).map(({ id }) => id);
}

test('IDs are strings that increase', async () => {
  const [first, second] = [await create('tea'), await create('coffee')];
  assert.equal(typeof first.id, 'string');
  assert.ok(BigInt(first.id) < BigInt(second.id));
});

test('the time of an order selects it', async () => {
  const order = await create('tea');
  assert.ok(Math.abs(Date.now() - Date.parse(order.createdAt)) < 10_000);
  assert.ok((await since(order.createdAt)).includes(order.id));
  const later = new Date(Date.parse(order.createdAt) + 60_000).toISOString();
  assert.ok(!(await since(later)).includes(order.id));
});

test('the page shows every digit of an ID', async () => {
  const order = await create('a pot of tea');
  const page = await (await fetch(origin)).text();
  assert.ok(page.includes(order.id), page);
});

test('concurrent orders have distinct IDs', async () => {
  const created = await Promise.all(Array.from({ length: 100 }, () => create('tea')));
  assert.equal(new Set(created.map(({ id }) => id)).size, 100);
});
