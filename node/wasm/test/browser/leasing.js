// Leases nodes from a broker with the installed package. This file runs in a page and in its
// worker.

import { Generator } from '/package/wasm/browser-entry.mjs';

function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export async function run(_agent, asked) {
  const [url, token] = [asked.get('url'), asked.get('token')];
  const generators = await Promise.all([1, 2].map(() => Generator.lease(url, { token })));
  const ids = [];
  for (let turn = 0; turn < 30; turn += 1) {
    for (const generator of generators) ids.push(generator.nextId(), await generator.nextIdAsync());
    await sleep(50);
  }
  const nodes = generators.map(({ node }) => node);
  const renewals = generators.map(({ lease }) => lease.renewals);
  await Promise.all(generators.map((generator) => generator.close()));
  return { nodes, renewals, ids: ids.map((id) => `${id}`) };
}
