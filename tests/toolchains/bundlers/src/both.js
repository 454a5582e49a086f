// A page and its worker that open the same fixed node, which only one of them gets.

import { Generator } from 'flakeid-core';

async function open() {
  const generator = new Generator({ node: 7 });
  const made = await generator.nextIdsAsync(1000).catch(({ code }) => [code]);
  return made.map(String);
}

if (typeof window === 'undefined') {
  self.postMessage(await open());
} else {
  const worker = new Worker(new URL('./both.js', import.meta.url), { type: 'module' });
  const heard = new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve([message]);
  });
  window.result = { claims: await Promise.all([open(), heard]) };
}
