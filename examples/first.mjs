import { Generator } from 'flakeid-core';

const generator = await Generator.lease('sqlite://flakeid.db');
console.log(generator.nextId()); // 2126905504767672321n
await generator.close(); // releases the node
