// A page that generates IDs of a fixed node.

import { Generator, decode } from 'flakeid-core';

const generator = new Generator({ node: 7 });
const ids = await generator.nextIdsAsync(1000);
window.result = { nodes: [decode(generator.nextId()).node], ids: ids.map(String) };
