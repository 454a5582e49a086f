// Prints five IDs of a leased node. No two copies of this program print the same ID.

import { Generator } from 'flakeid-core';

const url = process.env.FLAKEID_STORE ?? 'sqlite://flakeid.db';
const generator = await Generator.lease(url, {
  namespace: 'orders',
  onEvent: (event) => console.error(event.kind, event.node, event.error?.message),
});
for (let count = 0; count < 5; count++) {
  console.log(String(await generator.nextIdAsync()));
}
await generator.close(); // releases the node
