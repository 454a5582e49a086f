// Generates an ID for each line that it reads.

import { createInterface } from 'node:readline';

import flakeid from '../subject.mjs';

const options = { nodeCount: Number(process.argv[3]) };
const generator = await flakeid.Generator.lease(process.argv[2], options);
for await (const _ of createInterface({ input: process.stdin })) {
  try {
    console.log(String(await generator.nextIdAsync()));
  } catch (error) {
    console.log(error.code);
  }
}
await generator.close();
