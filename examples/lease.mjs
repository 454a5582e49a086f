// Five IDs of a leased node: however many copies run at once, no ID comes twice.

import { Generator } from 'flakeid-core';

const url = process.env.FLAKEID_STORE ?? 'sqlite://flakeid.db';
const generator = await Generator.lease(url, {
  namespace: 'orders',
  onEvent: (event) => console.error(event.kind, event.node, event.error?.message),
});
for (let count = 0; count < 5; count++) {
  console.log(String(await generator.nextIdAsync()));
}
await generator.close(); // gives the node back
