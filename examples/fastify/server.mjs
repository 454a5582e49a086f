// A service for orders: node server.mjs.

import Fastify from 'fastify';
import { Generator, decode, jsonReplacer } from 'flakeid-core';

const url = process.env.FLAKEID_STORE ?? 'sqlite://flakeid.db';
const generator = await Generator.lease(url, { namespace: 'orders' });
const orders = new Map();

const app = Fastify();
// IDs are bigints, which JSON does not have, so they are sent as strings of digits.
app.setReplySerializer((answer) => JSON.stringify(answer, jsonReplacer));

app.post('/orders', async (request, reply) => {
  const id = await generator.nextIdAsync(); // waits without blocking the event loop
  const order = { id, item: request.body.item, createdAt: decode(id).timestamp, pid: process.pid };
  orders.set(id, order);
  return reply.code(201).send(order);
});

app.get('/orders/:id', async (request, reply) => {
  const order = orders.get(BigInt(request.params.id));
  return order ?? reply.code(404).send({ error: 'no such order' });
});

app.addHook('onClose', () => generator.close()); // releases the node
// A worker of a cluster does not exit by itself, and gets Ctrl-C twice: also through its primary.
const stop = () => app.close().then(() => process.exit());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
