// Starts the service in one process: node server.mjs.

import { drizzle } from 'drizzle-orm/node-postgres';
import { Generator } from 'flakeid-core';
import { buildApp } from './app.mjs';

const url = process.env.DATABASE_URL;
const db = drizzle(url);
const generator = await Generator.lease(url, { namespace: 'orders' });
const app = buildApp(db, generator);

app.addHook('onClose', async () => {
  await generator.close(); // releases the node
  await db.$client.end();
});
// A worker of a cluster does not exit by itself, and gets Ctrl-C twice: also through its primary.
const stop = () => app.close().then(() => process.exit());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
