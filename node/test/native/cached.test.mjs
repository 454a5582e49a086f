// Tests of rings of IDs generated in advance.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import flakeid from '../subject.mjs';
import { failure, withCode } from '../vectors.mjs';
import { storeDirectory, urlOf } from './store.mjs';

const { CachedGenerator, FlakeIdError, Generator, ManualClock, decode } = flakeid;
const START = Date.parse('2026-01-01');
const code = JSON.stringify(process.env.FLAKEID_PACKAGE ?? 'flakeid-core');

// The ring may be empty while its thread waits for the next tick.
async function take(cached, count) {
  const ids = [];
  while (ids.length < count) {
    try {
      ids.push(ids.length % 2 === 0 ? cached.take() : cached.nextId());
    } catch (error) {
      assert.ok(
        ['FLAKEID_RING_EMPTY', 'FLAKEID_SEQUENCE_EXHAUSTED'].includes(error.code),
        `${error}`,
      );
      await pause(1);
    }
  }
  return ids;
}

test("IDs of fixed and leased nodes increase and are distinct from the generator's", async () => {
  const leased = await Generator.lease(urlOf(storeDirectory()));
  for (const generator of [new Generator({ node: 741 }), leased]) {
    const cached = new CachedGenerator(generator, { boostPower: 1 });
    assert.equal(cached.generator, generator);
    assert.equal(cached.capacity, 8192);
    const ids = await take(cached, 30_000);
    for (let index = 1; index < ids.length; index += 1) assert.ok(ids[index] > ids[index - 1]);
    assert.equal(decode(ids[0]).node, generator.node);
    const all = new Set(ids);
    for (let turn = 0; turn < 1000; turn += 1) all.add(generator.nextId());
    assert.equal(all.size, 31_000);
    const { taken, refills, size, droppedStale } = cached.stats();
    assert.equal(taken, 30_000);
    assert.ok(refills > 0 && size <= 8192 && droppedStale >= 0);
    cached.close();
    assert.ok(generator.nextId() > 0n, 'the generator continues');
    await generator.close();
  }
});

test('the ring respects the largest age', async () => {
  const cached = new CachedGenerator(new Generator({ node: 742 }), {
    maxAgeMs: 60,
    paddingFactor: 99,
  });
  const first = cached.take();
  for (let round = 0; round < 3; round += 1) {
    await pause(150);
    const asked = Date.now();
    const [id] = await take(cached, 1);
    assert.ok(id > first);
    assert.ok(decode(id).unixMs >= asked - 60, 'the ring returned an ID that was too old');
  }
  assert.ok(cached.stats().droppedStale > 0);
  cached.close();
});

test('a ring with a refill interval stays fresh', async () => {
  const cached = new CachedGenerator(new Generator({ node: 743 }), {
    refillIntervalMs: 5,
    maxAgeMs: 50,
    boostPower: 0,
  });
  while (cached.stats().refills < 5) await pause(5);
  cached.close();
});

test('handlers are called with rejected puts and takes', async () => {
  const clock = new ManualClock(START);
  const window = { start: START, fence: START + 3 };
  const generator = new Generator({ node: 1, layout: 't41.n8.s2@0/1ms', clock, window });
  const [puts, takes] = [[], []];
  const cached = new CachedGenerator(generator, {
    boostPower: 0,
    onRejectedPut: (error) => puts.push(error),
    onRejectedTake: (error) => takes.push(error),
  });
  assert.equal(cached.capacity, 4);
  const thrown = [];
  while (thrown.length < 3) {
    try {
      cached.take();
    } catch (error) {
      thrown.push(error);
    }
  }
  assert.deepEqual(takes, thrown);
  assert.ok(thrown.every(withCode('FLAKEID_RING_EMPTY')));
  assert.equal(cached.stats().rejectedTake, 3);
  clock.advance(10);
  while (puts.length === 0) await pause(5);
  assert.ok(puts[0] instanceof FlakeIdError);
  assert.equal(puts[0].code, 'FLAKEID_LEASE_EXPIRED');
  assert.ok(cached.stats().rejectedPut > 0);
  assert.equal(failure(() => cached.nextId(), 'the window is over').code, 'FLAKEID_LEASE_EXPIRED');
  generator.retire();
  const told = takes.length;
  assert.throws(() => cached.take(), withCode('FLAKEID_CLOSED'));
  assert.equal(takes.length, told);
  cached.close();
});

test('exceptions of a handler are thrown', () => {
  const generator = new Generator({ node: 1, sequenceMask: 0, clock: new ManualClock(START) });
  const cached = new CachedGenerator(generator, {
    onRejectedTake: () => {
      throw new RangeError('mine');
    },
  });
  assert.throws(() => {
    for (;;) cached.take();
  }, RangeError);
  cached.close();
});

test('calls fail after the ring or its generator closes', async () => {
  const leased = await Generator.lease(urlOf(storeDirectory()));
  for (const generator of [new Generator({ node: 744 }), leased]) {
    const [closed, left] = [new CachedGenerator(generator), new CachedGenerator(generator)];
    closed.take();
    const stats = closed.stats();
    closed.close();
    closed[Symbol.dispose ?? 'close']();
    assert.equal(closed.stats().taken, stats.taken);
    left.take();
    const closing = generator.close();
    for (const cached of [closed, left]) {
      for (const method of ['take', 'nextId'])
        assert.throws(() => cached[method](), withCode('FLAKEID_CLOSED'));
    }
    await closing;
    assert.throws(() => left.take(), withCode('FLAKEID_CLOSED'));
    assert.throws(() => new CachedGenerator(generator), withCode('FLAKEID_CLOSED'));
    left.close();
  }
});

test('a ring is iterable', () => {
  const cached = new CachedGenerator(new Generator({ node: 745 }));
  let last = -1n;
  let count = 0;
  for (const id of cached) {
    assert.ok(id > last);
    last = id;
    count += 1;
    if (count === 100) break;
  }
  cached.close();
});

test('opening a ring blocks the event loop only briefly', () => {
  const generator = new Generator({
    node: 1,
    layout: `t39.n16.s8@${Date.now() - 1000}/60s`,
    maxWaitMs: 60_000,
  });
  assert.throws(() => new CachedGenerator(generator), withCode('FLAKEID_SEQUENCE_EXHAUSTED'));
});

test('programs and workers can exit with open rings', async () => {
  const program = `
    const { CachedGenerator, Generator } = require(${code});
    globalThis.cached = new CachedGenerator(new Generator({ node: 1 }), { refillIntervalMs: 1, onRejectedPut: () => {} });
    globalThis.cached.take();
  `;
  for (const end of [
    '',
    'process.exit(0)',
    'globalThis.cached.generator.retire()',
    'globalThis.cached = undefined; gc()',
  ]) {
    const { status, signal, stderr } = spawnSync(
      process.execPath,
      ['--expose-gc', '-e', `${program}; ${end}`],
      { encoding: 'utf8' },
    );
    assert.deepEqual([status, signal], [0, null], `${end}: ${stderr}`);
  }
  for (let round = 0; round < 5; round += 1) {
    const worker = new Worker(
      `${program}; require('node:worker_threads').parentPort.postMessage(1); setInterval(() => {}, 1000)`,
      { eval: true },
    );
    await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
  }
});

test('a ring rejects invalid options', () => {
  const generator = new Generator({ node: 746 });
  const cases = {
    FLAKEID_FIELD_OUT_OF_RANGE: [
      { boostPower: 21 },
      { boostPower: -1 },
      { boostPower: 2n ** 40n },
      { paddingFactor: 0 },
      { paddingFactor: 100 },
      { maxAgeMs: -1 },
    ],
    FLAKEID_INVALID_OPTION: [
      { maxAgeMs: 1 },
      { refillIntervalMs: 0 },
      { maxAge: 5 },
      { layout: 'twitter' },
    ],
    ERR_INVALID_ARG_TYPE: [
      null,
      1,
      { boostPower: '3' },
      { maxAgeMs: 0.5 },
      { onRejectedPut: 'log' },
      { onRejectedTake: {} },
    ],
  };
  for (const [expected, list] of Object.entries(cases)) {
    for (const options of list) {
      assert.equal(
        failure(() => new CachedGenerator(generator, options), 'it was taken').code,
        expected,
      );
    }
  }
  for (const value of [undefined, null, {}, { node: 1 }]) {
    assert.throws(() => new CachedGenerator(value), {
      code: 'ERR_INVALID_ARG_TYPE',
      message: /^generator must be/,
    });
  }
  const cyclic = new Generator({
    node: 1,
    layout: 't41.n8.c2.s12@0/1ms',
    rollback: 'clock-sequence',
    clock: new ManualClock(START),
  });
  assert.throws(() => new CachedGenerator(cyclic), withCode('FLAKEID_INVALID_OPTION'));
});
