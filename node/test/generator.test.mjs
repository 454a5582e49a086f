import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from './subject.mjs';
import { withCode } from './vectors.mjs';

const { Generator, Layout, ManualClock, decode } = flakeid;

// Each test uses its own node, so that tests do not share positions.
let used = 0;
function node() {
  used += 1;
  return used;
}

function assertRising(ids, floor = -1n) {
  let last = floor;
  for (const id of ids) {
    assert.ok(id > last, `${id} after ${last}`);
    last = id;
  }
  return last;
}

test('IDs of all methods increase', async () => {
  const generator = new Generator({ node: node() });
  const array = new BigUint64Array(10_000);
  let last = assertRising([generator.nextId(), await generator.nextIdAsync()]);
  last = assertRising(generator.nextIds(10_000), last);
  last = assertRising(await generator.nextIdsAsync(10_000), last);
  assert.equal(generator.fill(array), array.length);
  last = assertRising(array, last);
  last = assertRising([generator.nextId()], last);
  const { node: decoded, unixMs } = decode(last);
  assert.equal(decoded, generator.node);
  assert.ok(Math.abs(Date.now() - unixMs) < 10_000);
});

test('fill writes in place to a BigInt64Array and to a part of an array', () => {
  const generator = new Generator({ node: node(), layout: 'discord' });
  const signed = new BigInt64Array(5);
  assert.equal(generator.fill(signed), 5);
  assertRising(signed);
  const whole = new BigUint64Array(9);
  const filled = generator.fill(whole.subarray(2, 6));
  assert.equal(filled, 4);
  assert.deepEqual(
    [...whole].map((id) => id !== 0n),
    [false, false, true, true, true, true, false, false, false],
  );
  assert.equal(generator.fill(new BigUint64Array(0)), 0);
});

test('nextIds of zero returns an empty array', async () => {
  const generator = new Generator({ node: node() });
  assert.deepEqual(generator.nextIds(0), []);
  assert.deepEqual(await generator.nextIdsAsync(0n), []);
});

test('generators contain their nodes and layouts', () => {
  const split = new Generator({ datacenter: 17, worker: 25 });
  assert.equal(split.node, 569);
  assert.deepEqual(split.nodes, [569]);
  assert.equal(`${split.layout}`, `${Layout.parse('twitter')}`);
  assert.deepEqual([decode(split.nextId()).datacenter, decode(split.nextId()).worker], [17, 25]);
  const layout = Layout.parse('t40.n8.s8@0/10ms');
  const own = new Generator({ node: 255n, layout, epoch: new Date('2020-01-01') });
  assert.equal(own.layout.epoch, 1_577_836_800_000n);
  assert.ok(own.layout.equals(layout.withEpoch(1_577_836_800_000)));
  assert.equal(own.layout.unpack(own.nextId()).node, 255n);
});

test('nextNumber requires a layout of at most 53 bits', () => {
  const clock = new ManualClock(Date.now());
  const small = new Generator({ node: 1, layout: 'js-safe', clock });
  const number = small.nextNumber();
  assert.ok(Number.isSafeInteger(number));
  assert.equal(BigInt(number) + 1n, small.nextId());
  const wide = new Generator({ node: 1, clock });
  const before = wide.nextId();
  assert.throws(() => wide.nextNumber(), withCode('FLAKEID_INVALID_OPTION'));
  assert.equal(wide.nextId(), before + 1n, 'an ID was lost');
});

test('a generator is iterable', () => {
  const generator = new Generator({ node: node() });
  const ids = [];
  for (const id of generator) {
    ids.push(id);
    if (ids.length === 5) break;
  }
  assertRising(ids);
});

test('two generators of one node share its position', () => {
  const mine = node();
  const [one, other] = [new Generator({ node: mine }), new Generator({ node: mine })];
  const ids = [];
  for (let turn = 0; turn < 5000; turn += 1) ids.push(one.nextId(), other.nextId());
  assertRising(ids);
});

test('a generator accepts a clock by its name', () => {
  const mine = node();
  const clocks = ['system', 'coarse', 'gated'];
  const ids = clocks.map((clock) => new Generator({ node: mine, clock }).nextId());
  assertRising(ids);
  assert.throws(
    () => new Generator({ node: mine, clock: 'sundial' }),
    /clock: must be system, coarse or gated, not "sundial"/,
  );
});

test('retire is final, and disposing retires the generator', async () => {
  const generator = new Generator({ node: node(), clock: new ManualClock(Date.now()) });
  assert.equal(generator.retire(), null);
  const second = new Generator({ node: node() });
  const id = second.nextId();
  assert.ok(second.retire() >= decode(id).tick);
  for (const call of [
    () => second.nextId(),
    () => second.tryNextId(),
    () => second.nextIds(2),
    () => second.fill(new BigUint64Array(1)),
    () => second.tryFill(new BigInt64Array(1)),
    () => second.retire(),
  ]) {
    assert.throws(call, withCode('FLAKEID_CLOSED'));
  }
  await assert.rejects(second.nextIdAsync(), withCode('FLAKEID_CLOSED'));
  await assert.rejects(second.nextIdsAsync(3), withCode('FLAKEID_CLOSED'));
  if (Symbol.dispose !== undefined) {
    const third = new Generator({ node: node() });
    third[Symbol.dispose]();
    third[Symbol.dispose]();
    assert.throws(() => third.nextId(), withCode('FLAKEID_CLOSED'));
  }
});

test('a manual clock stands still, and advances instead of waiting', () => {
  const clock = new ManualClock(new Date('2026-01-01'));
  const generator = new Generator({ node: 1, sequenceMask: 1, clock });
  generator.nextIds(2);
  assert.throws(
    () => generator.tryNextId(),
    (error) => withCode('FLAKEID_SEQUENCE_EXHAUSTED')(error) && error.retryAfterMs === 1,
  );
  generator.nextId();
  assert.equal(clock.unixMs, BigInt(Date.parse('2026-01-01')) + 1n);
  clock.advance(10);
  clock.advance(5n);
  assert.equal(clock.unixMs, BigInt(Date.parse('2026-01-01')) + 16n);
  assert.deepEqual(generator.stats(), { waits: 1, rollbacks: 0, largestAhead: 0n });
});
