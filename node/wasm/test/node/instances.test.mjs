// Tests that several instances share no state, as the README promises.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import flakeid from 'flakeid-wasm';

import { anotherInstance } from './installed.mjs';

const require = createRequire(import.meta.url);

// Runs `body` at one fixed time, so that a position that instances share shows in their IDs.
function atOnce(body) {
  const original = Date.now;
  const start = original();
  let now = start;
  Date.now = () => now;
  try {
    return body((ms) => {
      now = start + ms;
    });
  } finally {
    Date.now = original;
  }
}

test('an instance is created once for all entries', () => {
  assert.equal(require('flakeid-wasm'), flakeid);
  const { flakeid: other } = anotherInstance();
  assert.notEqual(other, flakeid);
  assert.notEqual(other.Generator, flakeid.Generator);
  assert.equal(require('flakeid-wasm'), flakeid);
});

test('two instances repeat IDs with one node, but not with two nodes', () => {
  const { flakeid: other } = anotherInstance();
  atOnce((after) => {
    const made = [
      new flakeid.Generator({ node: 601 }),
      new other.Generator({ node: 601 }),
      new other.Generator({ node: 602 }),
      // Generators of one node in one instance share one position.
      new flakeid.Generator({ node: 601 }),
    ];
    after(1);
    const [one, same, different, sharing] = made.map((generator) => generator.nextIds(1000));
    assert.deepEqual(same, one, 'instances with one node repeat IDs');
    assert.equal(new Set([...one, ...different, ...sharing]).size, 3000);
    assert.ok(sharing[0] > one.at(-1));
  });
});

test('alternating calls return the IDs of their own instance', () => {
  const { flakeid: other } = anotherInstance();
  const clocks = [
    new flakeid.ManualClock(1_505_914_988_849n),
    new other.ManualClock(1_600_000_000_000n),
  ];
  const generators = [
    new flakeid.Generator({ node: 1, clock: clocks[0] }),
    new other.Generator({ node: 2, clock: clocks[1] }),
  ];
  const runs = [new BigUint64Array(10), new BigUint64Array(10)];
  for (let turn = 0; turn < 1000; turn += 1) {
    generators.forEach((generator, index) => {
      const { node, unixMs } = flakeid.decode(generator.nextId());
      assert.deepEqual([node, BigInt(unixMs)], [index + 1, clocks[index].unixMs]);
      assert.equal(generator.fill(runs[index]), 10);
    });
  }
  runs.forEach((run, index) => {
    for (const id of run) assert.equal(flakeid.decode(id).node, index + 1);
  });
});

test('an instance rejects objects of another instance', () => {
  const { flakeid: other } = anotherInstance();
  const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  const clock = new other.ManualClock(1_505_914_988_849);
  assert.throws(() => new flakeid.Generator({ node: 1, clock }), wrongType);
  const layout = other.Layout.parse('plain');
  assert.throws(() => new flakeid.Generator({ node: 1, layout }), wrongType);
  assert.ok(!flakeid.Layout.parse('plain').equals(layout));
  assert.throws(
    () => flakeid.Generator.prototype.nextId.call(new other.Generator({ node: 1, clock })),
    TypeError,
  );
  // Each copy of the library recognizes the errors of the other.
  assert.throws(
    () => other.decode('-1'),
    (error) => error instanceof other.FlakeIdError && error instanceof flakeid.FlakeIdError,
  );
});

test('retiring a generator does not affect other instances', () => {
  const { flakeid: other } = anotherInstance();
  const [mine, yours] = [new flakeid.Generator({ node: 603 }), new other.Generator({ node: 603 })];
  mine.retire();
  assert.throws(() => mine.nextId(), { code: 'FLAKEID_CLOSED' });
  assert.ok(yours.nextId() > 0n);
});

function inWorker(node, now) {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    if (workerData.now !== undefined) Date.now = () => workerData.now;
    const { Generator } = require(${JSON.stringify(require.resolve('flakeid-wasm'))});
    const generator = new Generator({ node: workerData.node });
    if (workerData.now !== undefined) workerData.now += 1;
    parentPort.postMessage(generator.nextIds(workerData.count));
  `;
  return new Promise((resolve, reject) => {
    const worker = new Worker(source, {
      eval: true,
      workerData: { node, now, count: now === undefined ? 20_000 : 1000 },
    });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

test('every worker has its own instance', async () => {
  const now = 1_800_000_000_000;
  const [one, same] = await Promise.all([inWorker(604, now), inWorker(604, now)]);
  assert.equal(one.length, 1000);
  assert.deepEqual(same, one, 'instances with one node repeat IDs');
  const lists = await Promise.all([605, 606, 607].map((node) => inWorker(node)));
  lists.push(new flakeid.Generator({ node: 608 }).nextIds(20_000));
  assert.equal(new Set(lists.flat()).size, 80_000);
});
