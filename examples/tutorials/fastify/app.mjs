// The routes of the service.

import { asc, eq } from 'drizzle-orm';
import Fastify from 'fastify';
import { decode } from 'flakeid-core';
import { createdBetween } from 'flakeid-core/drizzle';
import { flakeId } from 'flakeid-core/zod';
import { z } from 'zod';
import { orders } from './schema.mjs';

const Id = z.object({ id: flakeId() });
const Period = z.object({ since: z.coerce.date(), until: z.coerce.date().optional() });
const NewOrder = z.object({ item: z.string(), again: flakeId().nullish() });
const Order = z.object({ id: flakeId(), item: z.string(), again: flakeId().nullable() });

// In the row, IDs are bigints. In JSON, they are strings, because browsers round large numbers.
function output(row) {
  // The ID contains the time, so the table needs no column for it.
  return { ...z.encode(Order, row), createdAt: decode(row.id).timestamp };
}

export function buildApp(db, generator) {
  const app = Fastify();

  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof z.ZodError) {
      return reply.code(400).send({ error: z.prettifyError(error) });
    }
    return reply.send(error);
  });

  app.post('/orders', async (request, reply) => {
    const order = NewOrder.parse(request.body);
    const id = await generator.nextIdAsync(); // waits without blocking the event loop
    const [row] = await db
      .insert(orders)
      .values({ ...order, id })
      .returning();
    return reply.code(201).send(output(row));
  });

  app.get('/orders/:id', async (request, reply) => {
    const { id } = Id.parse(request.params);
    const [row] = await db.select().from(orders).where(eq(orders.id, id));
    return row ? output(row) : reply.code(404).send({ error: `order ${id} does not exist` });
  });

  app.get('/orders', async (request) => {
    const { since, until } = Period.parse(request.query);
    // The condition uses the index of the primary key.
    const condition = createdBetween(orders.id, { from: since, before: until });
    const rows = await db.select().from(orders).where(condition).orderBy(asc(orders.id)).limit(100);
    return rows.map(output);
  });

  return app;
}
