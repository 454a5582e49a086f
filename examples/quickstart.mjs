// Generates one ID of node 7, and decodes it.

import { Generator, decode, toBase62 } from 'flakeid-core';

const generator = new Generator({ node: 7 }); // node 7 of 1024
const id = generator.nextId();
console.log(id, toBase62(id), decode(id));
