// IDs of a node that is leased from `flakeid serve`: in a browser, a worker, Node or Deno.

import { Generator } from 'flakeid-wasm/lease';

const generator = await Generator.lease('http://localhost:7117', { maxWaitMs: 3000 });
console.log(`node ${generator.node}`);

// At once; outside its window, as after a while in the background, it throws.
try {
  console.log(generator.nextId());
} catch (error) {
  if (error.code !== 'FLAKEID_LEASE_EXPIRED') throw error;
}

// Waits for the next renewal, for at most `maxWaitMs`.
console.log(await generator.nextIdAsync());

await generator.close(); // gives the node back
