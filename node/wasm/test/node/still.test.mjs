// Tests clocks that stand still: fake clocks of test runners, and runtimes that only advance their
// clock between events.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

// Makes every kind of call while the clocks stand still. The calls must fail after at most 1,000
// readings; the fake clock fails after more readings, because the calls would never return.
function check(assert, { Generator, ManualClock }, node) {
  const MOST = 1000;
  const [wall, monotonic] = [Date.now(), performance.now()];
  const [realNow, realPerformance] = [Date.now, performance.now];
  let readings = 0;
  const read = (time) => () => {
    readings += 1;
    if (readings > 2 * MOST) throw new Error('the call reads the clocks again and again');
    return time;
  };
  const STILL = {
    code: 'FLAKEID_SEQUENCE_EXHAUSTED',
    message: /^the clock stands still: .* ManualClock/,
  };
  Date.now = read(wall);
  performance.now = read(monotonic);
  try {
    const generator = new Generator({ node });
    for (const call of [
      () => generator.nextId(),
      () => generator.nextIds(2),
      () => generator.fill(new BigUint64Array(2)),
    ]) {
      readings = 0;
      assert.throws(call, STILL);
    }
    const window = { start: 0, fence: 2 ** 40 };
    const borrowing = new Generator({ node, window, overflow: 'borrow', maxAheadMs: 10 });
    readings = 0;
    const ids = borrowing.nextIds(100_000);
    assert.ok(ids.length >= 10 * 4096 && ids.length < 12 * 4096, `${ids.length} IDs`);
    readings = 0;
    assert.throws(() => borrowing.nextId(), STILL);
    // A wait advances a manual clock.
    const clock = new ManualClock(wall);
    assert.equal(new Generator({ node, clock }).nextIds(5000).length, 5000);
  } finally {
    Date.now = realNow;
    performance.now = realPerformance;
  }
  // The clocks advance again, and spinning lasts until the next tick.
  const generator = new Generator({ node });
  assert.equal(typeof generator.nextId(), 'bigint');
}

test('calls fail on a thread that sleeps while its clocks stand still', async () => {
  check(assert, await import('flakeid-core/wasm'), 910);
});

test('calls fail on a thread that spins while its clocks stand still', async () => {
  const code = `
    const assert = require('node:assert/strict');
    Atomics.wait = () => { throw new TypeError('Atomics.wait cannot be called in this context'); };
    (${check})(assert, require('flakeid-core/wasm'), 911);
  `;
  const worker = new Worker(code, { eval: true });
  assert.deepEqual(await once(worker, 'exit'), [0]);
});

test('an asynchronous call fails if only the time of day stands still', async () => {
  const { Generator } = await import('flakeid-core/wasm');
  const realNow = Date.now;
  const wall = Date.now();
  Date.now = () => wall;
  try {
    const generator = new Generator({ node: 912, maxWaitMs: 20 });
    await assert.rejects(generator.nextIdAsync(), /the clock stands still/);
  } finally {
    Date.now = realNow;
  }
});
