// Tests that objects that are created and dropped do not make the module's memory grow, because it
// never shrinks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import flakeid from 'flakeid-core/wasm';

import { glue } from './installed.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const NOW = 1_505_914_988_849n;
const ROUNDS = 60;
const EACH = 1000;

const size = () => glue.linearMemory().buffer.byteLength;

// The glue's finalizers run on the event loop after a collection.
async function tidy() {
  collect();
  await new Promise((resolve) => {
    setTimeout(resolve, 1);
  });
}

// Creates 30,000 objects, and returns the growth of the memory. As many objects are created first,
// until the memory has its final size. Collections are irregular, so the objects of several rounds
// exist at once.
async function growth(make) {
  let [before, heap] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round === ROUNDS / 2) [before, heap] = [size(), process.memoryUsage().heapUsed];
    for (let index = 0; index < EACH; index += 1) make(round * EACH + index);
    await tidy();
  }
  return { module: size() - before, heap: process.memoryUsage().heapUsed - heap };
}

// The limits allow less than 5 bytes for each object in the module, and no JavaScript object for
// each.
const MOST_MODULE = 2 * 65_536;
const MOST_HEAP = 600_000;

async function leaksNothing(make) {
  const { module, heap } = await growth(make);
  assert.ok(module <= MOST_MODULE, `the module's memory grew by ${module} bytes`);
  assert.ok(heap < MOST_HEAP, `JavaScript's memory grew by ${heap} bytes`);
}

test('generators on the system clock release their memory', () =>
  leaksNothing((index) => {
    const generator = new flakeid.Generator({
      node: index % 16,
      layout: 'sonyflake',
      overflow: 'error',
    });
    assert.ok(generator.stats().waits >= 0);
  }));

test('manual clocks and their generators release their memory', () =>
  leaksNothing((index) => {
    const clock = new flakeid.ManualClock(NOW);
    const generator = new flakeid.Generator({ node: index % 1024, clock });
    assert.equal(flakeid.decode(generator.nextId()).node, index % 1024);
    if (index % 2 === 0) generator.retire();
  }));

test('layouts release their memory', () =>
  leaksNothing((index) => {
    const layout = flakeid.Layout.parse(`t41.n10.s12@${index}/1ms`);
    assert.equal(layout.epoch, BigInt(index));
    assert.ok(flakeid.lowerBound(NOW, `${layout}`) <= flakeid.upperBound(NOW, layout));
  }));

// The test does not wait for a collection, because a program that parses many layouts in one turn
// of the event loop has none.
test('layouts release their memory without the event loop', () => {
  for (let index = 0; index < 1000; index += 1) flakeid.Layout.parse('plain');
  const before = size();
  for (let index = 0; index < 100_000; index += 1) flakeid.Layout.parse('plain');
  assert.equal(size(), before);
});

test('errors release their memory', () => {
  const clock = new flakeid.ManualClock(NOW);
  const generator = new flakeid.Generator({ node: 1, clock, sequenceMask: 0 });
  generator.nextId();
  const ids = new BigUint64Array(1);
  const calls = [
    () => new flakeid.Generator({ node: 1024, clock }),
    () => flakeid.fromBase62('?'),
    () => flakeid.Layout.parse('nonsense'),
    () => flakeid.decode(2n ** 63n),
    () => generator.tryNextId(),
    () => generator.tryFill(ids),
    () => generator.extend(1),
  ];
  return leaksNothing((index) => assert.throws(calls[index % calls.length], flakeid.FlakeIdError));
});

test('strings and parts release their memory', () =>
  leaksNothing((index) => {
    const id = BigInt(index);
    assert.equal(flakeid.fromBase58(flakeid.toBase58(id)), id);
    const layout = flakeid.Layout.parse('twitter');
    assert.equal(layout.pack(layout.unpack(id)), id);
  }));

test('fill releases its memory', () => {
  const clock = new flakeid.ManualClock(1_800_000_000_000);
  const generator = new flakeid.Generator({
    node: 1,
    layout: 't32.n4.s26@1700000000000/1s',
    clock,
  });
  const ids = new BigUint64Array(1_000_000);
  generator.fill(ids);
  const before = [size(), process.memoryUsage().external];
  for (let turn = 0; turn < 20; turn += 1) assert.equal(generator.fill(ids), ids.length);
  assert.equal(size(), before[0]);
  assert.ok(process.memoryUsage().external - before[1] < 1_000_000);
  assert.equal(new Set(ids).size, ids.length);
});

test('results stay valid when memory grows', () => {
  const before = size();
  const clock = new flakeid.ManualClock(NOW);
  const generators = [];
  for (let node = 0; node < 20_000; node += 1) {
    generators.push(new flakeid.Generator({ layout: 'sonyflake', node, clock }));
  }
  assert.ok(size() > before, 'nothing has grown');
  const ids = new BigUint64Array(10);
  assert.equal(generators[19_999].fill(ids), 10);
  assert.equal(new Set(ids).size, 10);
  assert.equal(flakeid.decode(ids[9], 'sonyflake').node, 19_999);
  assert.equal(flakeid.decode(generators[0].nextId(), 'sonyflake').node, 0);
});
