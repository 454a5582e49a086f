// Tests that a panic of the core becomes an Error, and that the process and its generators
// continue.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker, isMainThread, workerData } from 'node:worker_threads';

import flakeid from '../../../../node/index.js';

const { Generator, ManualClock, FlakeIdError, decode } = flakeid;

const NOW = 1_505_914_988_849n;
// The time of the clock after the first ID.
const LATER = NOW + 1n;
// The time at which the clock panics.
const BROKEN = -1n;

const DEFECT = { name: 'Error', message: 'internal flakeid error; please report it' };
const CAUGHT = { name: 'Error', message: /the clock is broken/ };

function open(node) {
  const clock = new ManualClock(NOW);
  const generator = new Generator({ node, clock });
  return { clock, generator, first: generator.nextId() };
}

const calls = (generator) => [
  () => generator.nextId(),
  () => generator.tryNextId(),
  () => generator.fill(new BigUint64Array(3)),
  () => generator.tryFill(new BigInt64Array(3)),
];

if (isMainThread) {
  test('bound functions throw an Error after a panic', () => {
    const { clock, generator, first } = open(1);
    for (let round = 1n; round <= 100n; round += 1n) {
      clock.set(BROKEN);
      for (const call of calls(generator)) assert.throws(call, DEFECT);
      clock.set(LATER);
      assert.equal(generator.nextId(), first + round, 'an ID was lost or repeated');
    }
    const ids = new BigUint64Array(3);
    clock.set(BROKEN);
    assert.throws(() => generator.fill(ids), DEFECT);
    assert.deepEqual([...ids], [0n, 0n, 0n]);
  });

  test('functions of the add-on throw an Error after a panic', () => {
    const { clock, generator, first } = open(2);
    clock.set(BROKEN);
    assert.throws(() => clock.unixMs, CAUGHT);
    assert.throws(() => generator.nextIds(3), CAUGHT);
    assert.throws(() => new Generator({ node: 2, clock }), CAUGHT);
    // Calls that do not read the clock still work, and still throw errors other than those of a
    // panic.
    assert.equal(generator.node, 2);
    assert.equal(decode(first).node, 2);
    assert.throws(() => generator.extend(1), FlakeIdError);
    clock.set(LATER);
    assert.deepEqual(generator.nextIds(2), [first + 1n, first + 2n]);
    assert.equal(generator.stats().rollbacks, 0);
  });

  test('promises reject with an Error after a panic', async () => {
    const { clock, generator, first } = open(3);
    clock.set(BROKEN);
    const broken = Array.from({ length: 20 }, (_, index) =>
      index % 2 ? generator.nextIdAsync() : generator.nextIdsAsync(3),
    );
    for (const { reason } of await Promise.allSettled(broken)) {
      assert.match(reason?.message, CAUGHT.message);
      assert.ok(reason instanceof Error);
    }
    clock.set(LATER);
    assert.equal(await generator.nextIdAsync(), first + 1n);
    assert.deepEqual(await generator.nextIdsAsync(2), [first + 2n, first + 3n]);
  });

  test('a worker continues and ends normally after a panic', async () => {
    const { generator, first } = open(4);
    const worker = new Worker(new URL(import.meta.url), { workerData: { node: 5 } });
    const code = await new Promise((resolve, reject) => {
      worker.once('exit', resolve);
      worker.once('error', reject);
    });
    assert.equal(code, 0);
    assert.equal(generator.nextId(), first + 1n);
  });

  test('a generator can be retired after panics', () => {
    const { clock, generator } = open(6);
    clock.set(BROKEN);
    for (const call of calls(generator)) assert.throws(call, DEFECT);
    assert.throws(() => generator.nextIds(1), CAUGHT);
    clock.set(LATER);
    generator.retire();
    assert.throws(() => generator.nextId(), { code: 'FLAKEID_CLOSED' });
  });
} else {
  const { clock, generator, first } = open(workerData.node);
  clock.set(BROKEN);
  for (const call of calls(generator)) assert.throws(call, DEFECT);
  await assert.rejects(generator.nextIdAsync(), CAUGHT);
  clock.set(LATER);
  assert.equal(generator.nextId(), first + 1n);
}
