// Prints an ID of a leased node. The bundle of this program finds the add-on in node_modules.

import { Generator } from 'flakeid-core';

const generator = await Generator.lease(process.env.FLAKEID_STORE ?? 'sqlite://flakeid.db');
console.log(generator.nextId());
await generator.close();
