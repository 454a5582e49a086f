// Tests of the time for which calls block the event loop.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { mock, test } from 'node:test';

import flakeid from '../subject.mjs';
import { failure } from '../vectors.mjs';

const { Generator } = flakeid;

// Returns a layout with long ticks, one of which has just begun, so that the next tick is far away.
const early = () => `t39.n16.s8@${Date.now() - 1000}/60s`;

function timed(call) {
  const start = process.hrtime.bigint();
  const error = failure(call, 'it waited long enough');
  return { error, ms: Number(process.hrtime.bigint() - start) / 1e6 };
}

// The limit is generous, because the machine may be busy, but far less than the tick and than
// maxWaitMs.
const MOST_MS = 10_000;

test('a call waits for at most 10 ms, even if the tick is longer', () => {
  const generator = new Generator({ node: 1, layout: early(), maxWaitMs: 60_000 });
  for (const call of [
    () => generator.nextId(),
    () => generator.fill(new BigUint64Array(2)),
    () => generator.nextIds(2),
  ]) {
    const { error, ms } = timed(call);
    assert.equal(error.code, 'FLAKEID_SEQUENCE_EXHAUSTED');
    assert.ok(error.retryAfterMs > 1000, `${error.retryAfterMs}`);
    assert.ok(ms >= 9 && ms < MOST_MS, `${ms} ms`);
  }
});

test('a call with a window waits for at most 10 ms on the system clock', () => {
  const layout = early();
  const generator = new Generator({
    node: 1,
    layout,
    window: { start: 0, fence: 9 },
    sequenceMask: 0,
    maxAheadMs: 0,
    maxWaitMs: 60_000,
  });
  generator.nextId();
  for (const call of [() => generator.nextId(), () => generator.fill(new BigUint64Array(2))]) {
    const { error, ms } = timed(call);
    assert.equal(error.code, 'FLAKEID_SEQUENCE_EXHAUSTED');
    assert.ok(ms >= 9 && ms < MOST_MS, `${ms} ms`);
  }
});

test('a window fills over many ticks without stopping', () => {
  const start = Date.now() - 1000;
  const generator = new Generator({
    node: 1,
    layout: `t41.n10.s4@${start}/1ms`,
    window: { start: 0, fence: 2 ** 40 },
    maxAheadMs: 0,
  });
  const ids = new BigUint64Array(16 * 50);
  assert.equal(generator.fill(ids), ids.length);
});

test('a call respects a shorter maxWaitMs', () => {
  const generator = new Generator({ node: 2, layout: early(), maxWaitMs: 0 });
  const { error } = timed(() => generator.nextId());
  assert.equal(error.code, 'FLAKEID_SEQUENCE_EXHAUSTED');
});

test('an asynchronous call waits for maxWaitMs without blocking the event loop', async () => {
  for (const window of [undefined, { start: 0, fence: 100 }]) {
    const layout = `t39.n16.s8@${Date.now() - 1000}/1s`;
    const generator = new Generator({
      node: 3,
      layout,
      window,
      sequenceMask: 0,
      maxAheadMs: 0,
      maxWaitMs: 5000,
    });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    const ids = await generator.nextIdsAsync(2);
    ids.push(await generator.nextIdAsync());
    clearInterval(timer);
    assert.equal(ids.length, 3);
    assert.ok(ids[0] < ids[1] && ids[1] < ids[2]);
    assert.ok(turns > 20, `${turns} turns of the loop`);
  }
});

test('waiting calls delay neither files nor the ends of a worker and of the process', async () => {
  const code = `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    const { once } = require('node:events');
    const { stat } = require('node:fs/promises');
    const { Generator } = require(${JSON.stringify(process.env.FLAKEID_PACKAGE ?? 'flakeid-core')});
    const generator = new Generator({ node: 1, layout: '${early()}', maxWaitMs: 120_000 });
    // libuv's pool has four threads.
    for (let n = 0; n < 8; n += 1) {
      generator.nextIdAsync().catch(() => undefined);
      generator.nextIdsAsync(2).catch(() => undefined);
    }
    if (isMainThread) {
      (async () => {
        await stat('.');
        const worker = new Worker(process.env.FLAKEID_TEST_CODE, { eval: true });
        await once(worker, 'message');
        await worker.terminate();
        process.exit(0);
      })();
    } else {
      parentPort.postMessage('waiting');
    }
  `;
  const env = { ...process.env, FLAKEID_TEST_CODE: code, NODE_TEST_CONTEXT: undefined };
  // The next tick begins in 59 seconds.
  const timeout = 40_000;
  const child = spawn(process.execPath, ['-e', code], { env, stdio: 'inherit', timeout });
  assert.deepEqual(await once(child, 'close'), [0, null]);
});

test('loops of asynchronous calls let the event loop continue', async () => {
  const generator = new Generator({ node: 5 });
  let isOver = false;
  const loops = Array.from({ length: 100 }, async () => {
    while (!isOver) await generator.nextIdAsync();
  });
  await stat('.');
  isOver = true;
  await Promise.all(loops);
});

test('waiting leases do not delay files', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `postgresql://user@127.0.0.1:${silent.address().port}/silent`;
  let settled = 0;
  const leases = Array.from({ length: 5 }, async (_, index) => {
    await assert.rejects(Generator.lease(url, { namespace: `n${index}` }));
    settled += 1;
  });
  await stat('.');
  assert.equal(settled, 0, 'the file waited for a lease');
  await Promise.all(leases);
  silent.close();
});

test('fake timers of tests do not stop an asynchronous call', async () => {
  const generator = new Generator({ node: 4 });
  mock.timers.enable();
  try {
    const ids = await generator.nextIdsAsync(10_000);
    assert.equal(ids.length, 10_000);
    assert.ok((await generator.nextIdAsync()) > ids.at(-1));
  } finally {
    mock.timers.reset();
  }
});
