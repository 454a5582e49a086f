// Tests that all worker threads of a process share one position of a node.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

import flakeid from '../subject.mjs';

const { Generator } = flakeid;
const EACH = 200_000;

// Repeats a call until it succeeds. Threads that use up every tick take IDs from each other, and a
// call that waits on an event loop fails after a tick.
function persist(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code !== 'FLAKEID_SEQUENCE_EXHAUSTED') throw error;
    }
  }
}

function make(node) {
  const generator = new Generator({ node });
  const ids = new BigUint64Array(EACH);
  const half = EACH / 2;
  for (let index = 0; index < half; index += 1) ids[index] = persist(() => generator.nextId());
  for (let filled = half; filled < EACH; ) {
    const rest = ids.subarray(filled);
    filled += persist(() => generator.fill(rest));
  }
  return ids;
}

if (!isMainThread && workerData?.node !== undefined) {
  const ids = make(workerData.node);
  parentPort.postMessage(ids, [ids.buffer]);
}

function work(node) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { node } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

if (isMainThread) {
  test('three threads of one node issue distinct IDs', async () => {
    const workers = [work(11), work(11)];
    const lists = [make(11), ...(await Promise.all(workers))];
    for (const ids of lists) {
      for (let index = 1; index < EACH; index += 1) assert.ok(ids[index] > ids[index - 1]);
    }
    const all = new BigUint64Array(3 * EACH);
    for (const [index, ids] of lists.entries()) all.set(ids, index * EACH);
    all.sort();
    for (let index = 1; index < all.length; index += 1) {
      assert.notEqual(all[index], all[index - 1], 'an ID was issued twice');
    }
  });

  test('errors in a worker are thrown in that worker', async () => {
    await assert.rejects(work(5000), { code: 'FLAKEID_FIELD_OUT_OF_RANGE', field: 'node' });
  });

  test('workers can end while their calls are running', async () => {
    for (let round = 0; round < 5; round += 1) {
      const code = `
        const { Generator } = require(${JSON.stringify(process.env.FLAKEID_PACKAGE ?? 'flakeid-core')});
        const generator = new Generator({ node: 12 });
        for (let n = 0; n < 8; n += 1) generator.nextIdsAsync(100_000);
        require('node:worker_threads').parentPort.postMessage(1);
      `;
      const worker = new Worker(code, { eval: true });
      await new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      await worker.terminate();
    }
  });
}
