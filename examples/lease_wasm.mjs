// Generates IDs of a node of `flakeid serve`, in every JavaScript runtime.

import { Generator } from 'flakeid-core';

const generator = await Generator.lease('http://localhost:7117', { maxWaitMs: 3000 });
console.log(`node ${generator.node}`);

// Returns an ID at once, or throws outside the window, for example after some time in the background.
try {
  console.log(generator.nextId());
} catch (error) {
  if (error.code !== 'FLAKEID_LEASE_EXPIRED') throw error;
}

// Waits for the next renewal if necessary, for at most `maxWaitMs`.
console.log(await generator.nextIdAsync());

await generator.close(); // releases the node
