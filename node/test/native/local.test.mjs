// Tests of handles that reserve chunks of positions.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from '../subject.mjs';
import { withCode } from '../vectors.mjs';
import { storeDirectory, urlOf } from './store.mjs';

const { Generator, LocalGenerator, ManualClock, decode } = flakeid;

test('IDs of each handle increase, and all IDs are distinct', () => {
  const generator = new Generator({ node: 721 });
  const sources = [generator, generator.local(), new LocalGenerator(generator)];
  const last = sources.map(() => -1n);
  const all = new Set();
  for (let turn = 0; turn < 30_000; turn += 1) {
    const at = turn % 3;
    const id = turn % 2 === 0 ? sources[at].nextId() : retrying(sources[at]);
    assert.ok(id > last[at]);
    last[at] = id;
    all.add(id);
  }
  assert.equal(all.size, 30_000);
  assert.ok(decode(last[1]).unixMs <= Date.now(), 'ahead of the clock');
  assert.equal(decode(last[1]).node, 721);
});

function retrying(source) {
  try {
    return source.tryNextId();
  } catch (error) {
    assert.ok(withCode('FLAKEID_SEQUENCE_EXHAUSTED')(error));
    return source.nextId();
  }
}

test('a handle is iterable and exposes its generator', () => {
  const generator = new Generator({ node: 722 });
  const local = generator.local();
  assert.equal(local.generator, generator);
  let last = -1n;
  let count = 0;
  for (const id of local) {
    assert.ok(id > last);
    last = id;
    count += 1;
    if (count === 100) break;
  }
});

test('a manual clock advances instead of waiting', () => {
  const clock = new ManualClock(new Date('2026-01-01'));
  const local = new Generator({ node: 1, sequenceMask: 1, clock }).local();
  const ids = [local.nextId(), local.nextId()];
  assert.throws(() => local.tryNextId(), withCode('FLAKEID_SEQUENCE_EXHAUSTED'));
  ids.push(local.nextId());
  const start = Date.parse('2026-01-01');
  assert.deepEqual(
    ids.map((id) => decode(id).unixMs - start),
    [0, 0, 1],
  );
});

test('a handle ends with its generator, in the middle of a chunk', async () => {
  const fixed = new Generator({ node: 723 });
  const leased = await Generator.lease(urlOf(storeDirectory()));
  for (const generator of [fixed, leased]) {
    const local = generator.local();
    const ids = [local.nextId(), local.nextId(), local.nextId()];
    assert.ok(ids[0] < ids[1] && ids[1] < ids[2]);
    const closing = generator.close();
    for (const method of ['nextId', 'tryNextId']) {
      assert.throws(() => local[method](), withCode('FLAKEID_CLOSED'));
    }
    await closing;
    assert.throws(() => generator.local().nextId(), withCode('FLAKEID_CLOSED'));
  }
});

test('a handle blocks the event loop only briefly, even if ticks are long', () => {
  const generator = new Generator({
    node: 1,
    layout: `t39.n16.s8@${Date.now() - 1000}/60s`,
    maxWaitMs: 60_000,
  });
  assert.throws(() => generator.local().nextId(), withCode('FLAKEID_SEQUENCE_EXHAUSTED'));
});

test('only generators have local handles', () => {
  for (const value of [
    undefined,
    null,
    1,
    {},
    new ManualClock(0),
    Object.create(Generator.prototype),
  ]) {
    assert.throws(() => new LocalGenerator(value), {
      code: 'ERR_INVALID_ARG_TYPE',
      message: /^generator must be/,
    });
  }
});
