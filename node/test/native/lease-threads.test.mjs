// Tests that worker threads that lease with equal options share one node.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

import flakeid from '../subject.mjs';
import { assertUnique, storeDirectory, urlOf } from './store.mjs';

const { Generator, decode } = flakeid;
const EACH = 200_000;
const OPTIONS = { namespace: 'threads', maxWaitMs: 5000 };

// Repeats a call until it succeeds, because threads that use up every tick take IDs from each
// other.
function persist(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code !== 'FLAKEID_SEQUENCE_EXHAUSTED') throw error;
    }
  }
}

function make(generator) {
  const ids = new BigUint64Array(EACH);
  const half = EACH / 2;
  for (let index = 0; index < half; index += 1) ids[index] = persist(() => generator.nextId());
  for (let filled = half; filled < EACH; ) {
    const rest = ids.subarray(filled);
    filled += persist(() => generator.fill(rest));
  }
  return ids;
}

if (!isMainThread && workerData?.url !== undefined) {
  const generator = await Generator.lease(workerData.url, OPTIONS);
  const ids = make(generator);
  parentPort.postMessage({ ids, node: generator.node, grants: generator.lease.grants }, [
    ids.buffer,
  ]);
  // The generator stays open until the worker ends.
  globalThis.generator = generator;
}

function work(url) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { url } });
  return new Promise((resolve, reject) => {
    let made;
    worker.once('message', (message) => {
      made = message;
    });
    worker.once('exit', () => resolve(made));
    worker.once('error', reject);
  });
}

if (isMainThread) {
  test('workers share one lease, which outlives each of them', async () => {
    const url = urlOf(storeDirectory());
    const generator = await Generator.lease(url, OPTIONS);
    const workers = [work(url), work(url), work(url)];
    const lists = [make(generator)];
    for (const { ids, node, grants } of await Promise.all(workers)) {
      assert.deepEqual({ node, grants }, { node: generator.node, grants: 1 });
      lists.push(ids);
    }
    // All workers have ended.
    assert.equal(decode(generator.nextId()).node, generator.node);
    assert.equal(generator.lease.grants, 1);
    for (const ids of lists) {
      for (let index = 1; index < EACH; index += 1) assert.ok(ids[index] > ids[index - 1]);
    }
    const all = new BigUint64Array(lists.length * EACH);
    for (const [index, ids] of lists.entries()) all.set(ids, index * EACH);
    assertUnique(all);
    await generator.close();
  });
}
