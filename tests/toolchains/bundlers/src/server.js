// A program that leases a node from a store, and prints IDs.

import { Generator, decode } from 'flakeid-core';

const generator = await Generator.lease(process.argv[2]);
const ids = generator.nextIds(1000);
console.log(JSON.stringify({ node: decode(ids[0]).node, ids: ids.map(String) }));
await generator.close();
