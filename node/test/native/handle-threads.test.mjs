// Tests of all kinds of handles at the same time, in worker threads with one node, fixed or leased.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

import flakeid from '../subject.mjs';
import { assertUnique, storeDirectory, urlOf } from './store.mjs';

const { CachedGenerator, Generator } = flakeid;
const EACH = 30_000;

const open = (source) =>
  typeof source === 'number'
    ? new Generator({ node: source, clock: 'coarse' })
    : Generator.lease(source, { clock: 'coarse', maxWaitMs: 5000 });

// Repeats a call until it succeeds, because threads that use up every tick take IDs from each
// other.
function persist(handle) {
  for (;;) {
    try {
      return handle.nextId();
    } catch (error) {
      if (!['FLAKEID_SEQUENCE_EXHAUSTED', 'FLAKEID_RING_EMPTY'].includes(error.code)) throw error;
    }
  }
}

async function make(source) {
  const generator = await open(source);
  const handles = [
    generator,
    generator.local(),
    generator.buffered(),
    new CachedGenerator(generator, { boostPower: 0 }),
  ];
  const ids = new BigUint64Array(EACH * handles.length);
  for (let index = 0; index < ids.length; index += 1) {
    ids[index] = persist(handles[index % handles.length]);
    if (index >= handles.length) assert.ok(ids[index] > ids[index - handles.length]);
    if (index % 1000 === 0) await undefined;
  }
  // The handles stay open until the worker ends.
  globalThis.handles = handles;
  return { ids, nodes: generator.nodes };
}

if (!isMainThread) {
  const made = await make(workerData.source);
  parentPort.postMessage(made, [made.ids.buffer]);
} else {
  const work = (source) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { source } });
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  for (const [name, source] of Object.entries({ fixed: 751, leased: urlOf(storeDirectory()) })) {
    test(`${name}: three threads issue distinct IDs`, async () => {
      const made = await Promise.all([work(source), work(source), make(source)]);
      const all = new BigUint64Array(made.reduce((sum, { ids }) => sum + ids.length, 0));
      for (const [index, { ids }] of made.entries()) all.set(ids, index * ids.length);
      assertUnique(all);
      for (const { nodes } of made) assert.deepEqual(nodes, made[0].nodes, 'one node for all');
    });
  }
}
