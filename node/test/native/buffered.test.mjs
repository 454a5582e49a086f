// Tests of the handle that generates many IDs by one call.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs';
import { test } from 'node:test';

import flakeid from '../subject.mjs';
import { withCode } from '../vectors.mjs';
import { storeDirectory, urlOf } from './store.mjs';

const { BufferedGenerator, Generator, ManualClock, decode } = flakeid;
const START = Date.parse('2026-01-01');

function take(source, count) {
  const ids = new BigUint64Array(count);
  for (let index = 0; index < count; index += 1) {
    ids[index] = source.nextId();
    if (index > 0) assert.ok(ids[index] > ids[index - 1], `${ids[index]} after ${ids[index - 1]}`);
  }
  return ids;
}

test('IDs increase over batches and pauses, and all IDs are distinct', async () => {
  const generator = new Generator({ node: 731 });
  const buffers = [
    generator.buffered(),
    generator.buffered({ size: 3 }),
    new BufferedGenerator(generator),
  ];
  const all = new Set();
  const last = buffers.map(() => -1n);
  for (let round = 0; round < 50; round += 1) {
    for (const [at, buffer] of buffers.entries()) {
      const ids = take(buffer, 1 + round * 20);
      assert.ok(ids[0] > last[at]);
      last[at] = ids.at(-1);
      for (const id of ids) all.add(id);
      all.add(generator.nextId());
    }
    if (round % 3 === 0) await undefined;
    if (round % 7 === 0) await new Promise(setImmediate);
  }
  assert.equal(all.size, 3 * (50 + (20 * 49 * 50) / 2 + 50));
});

test('the rest of a batch is dropped at every await', async () => {
  const pauses = {
    await: () => undefined,
    job: () => Promise.resolve(),
    nextTick: () => new Promise((resolve) => process.nextTick(resolve)),
    immediate: () => new Promise((resolve) => setImmediate(resolve)),
    timer: () => new Promise((resolve) => setTimeout(resolve, 1)),
    file: () => new Promise((resolve) => readFile(new URL(import.meta.url), resolve)),
  };
  const clock = new ManualClock(START);
  const buffered = new Generator({ node: 1, clock }).buffered();
  for (const [name, pause] of Object.entries(pauses)) {
    const before = Number(clock.unixMs);
    take(buffered, 100);
    clock.advance(1000);
    assert.equal(decode(buffered.nextId()).unixMs, before, 'one batch is one call');
    await pause();
    assert.equal(decode(buffered.nextId()).unixMs, before + 1000, name);
  }
});

test('the rest of a batch is dropped before the next callback', async () => {
  const clock = new ManualClock(START);
  const buffered = new Generator({ node: 1, clock }).buffered();
  const seen = [];
  await new Promise((resolve) => {
    // The loop may sleep for any time between the two callbacks.
    setTimeout(() => {
      take(buffered, 10);
      clock.advance(60_000);
    }, 1);
    setTimeout(() => {
      seen.push(decode(buffered.nextId()).unixMs);
      resolve();
    }, 30);
  });
  assert.deepEqual(seen, [START + 60_000]);
});

test('at most as many IDs are dropped as were used', () => {
  for (const [size, most] of [
    [256, 255],
    [1, 0],
    [3, 2],
    [65_536, 65_535],
  ]) {
    for (const used of [1, 2, 3, 4, 7, 100, 511, 512, 1000]) {
      const generator = new Generator({
        node: 1,
        layout: 't41.n3.s19@0/1ms',
        clock: new ManualClock(START),
      });
      const buffered = generator.buffered({ size });
      assert.equal(buffered.size, size);
      const ids = take(buffered, used);
      const made = Number(generator.nextId() - ids[0]);
      assert.ok(made - used <= Math.min(used, most), `${size}: ${used} of ${made}`);
    }
  }
});

test('a call waits for the next tick, and reports obstacles between two IDs', () => {
  const clock = new ManualClock(START);
  const waiting = new Generator({ node: 1, sequenceMask: 3, clock }).buffered();
  assert.deepEqual(
    [...take(waiting, 10)].map((id) => decode(id).sequence),
    [0, 1, 2, 3, 0, 1, 2, 3, 0, 1],
  );
  assert.equal(clock.unixMs, BigInt(START + 2));
  const refusing = new Generator({ node: 1, sequenceMask: 7, overflow: 'error', clock }).buffered();
  take(refusing, 8);
  for (let turn = 0; turn < 3; turn += 1) {
    assert.throws(() => refusing.nextId(), withCode('FLAKEID_SEQUENCE_EXHAUSTED'));
  }
  clock.advance(1);
  assert.deepEqual(
    [...take(refusing, 8)].map((id) => decode(id).sequence),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
});

test('a handle returns no IDs after its generator closes', async () => {
  const [fixed, retired] = [732, 733].map((node) => new Generator({ node }));
  const leased = await Generator.lease(urlOf(storeDirectory()));
  const ends = [
    [fixed, () => fixed.close()],
    [retired, () => retired.retire()],
    [leased, () => leased.close()],
  ];
  for (const [generator, end] of ends) {
    const buffered = generator.buffered();
    take(buffered, 10);
    const ended = end();
    assert.throws(() => buffered.nextId(), withCode('FLAKEID_CLOSED'));
    await ended;
    assert.throws(() => buffered.nextId(), withCode('FLAKEID_CLOSED'));
  }
});

test('a handle neither keeps a process running nor prevents its end', () => {
  const code = `
    const { Generator } = require(${JSON.stringify(process.env.FLAKEID_PACKAGE ?? 'flakeid-core')});
    const buffered = new Generator({ node: 1 }).buffered();
    const some = () => { for (let n = 0; n < 10; n += 1) buffered.nextId(); };
    process.on('beforeExit', () => { some(); console.log('over'); });
    process.on('exit', some);
    setTimeout(some, 1);
    some();
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', code], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [0, 'over\n'], stderr);
});

test('a handle is iterable, and checks its options', () => {
  const generator = new Generator({ node: 734 });
  const buffered = generator.buffered();
  assert.deepEqual([buffered.size, buffered.generator], [256, generator]);
  let last = -1n;
  let count = 0;
  for (const id of buffered) {
    assert.ok(id > last);
    last = id;
    count += 1;
    if (count === 1000) break;
  }
  for (const size of [0, -1, 65_537, 2n ** 70n]) {
    assert.throws(
      () => generator.buffered({ size }),
      (error) => withCode('FLAKEID_FIELD_OUT_OF_RANGE')(error) && error.field === 'size',
    );
  }
  for (const options of [null, 16, { size: '16' }, { size: 1.5 }]) {
    assert.throws(() => generator.buffered(options), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  assert.throws(() => generator.buffered({ length: 16 }), withCode('FLAKEID_INVALID_OPTION'));
  for (const value of [undefined, {}, buffered]) {
    assert.throws(() => new BufferedGenerator(value), { code: 'ERR_INVALID_ARG_TYPE' });
  }
});
