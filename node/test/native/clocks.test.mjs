// Tests of clocks by name, and of several nodes in one generator.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from '../subject.mjs';
import { withCode } from '../vectors.mjs';
import { storeDirectory, urlOf } from './store.mjs';

const { Generator, decode } = flakeid;

test('IDs of every clock increase, and the coarse clock is never ahead', async () => {
  for (const clock of ['system', 'coarse', 'gated']) {
    const generator = new Generator({ node: 701, clock });
    let last = await generator.nextIdAsync();
    for (let turn = 0; turn < 20_000; turn += 1) {
      const id = generator.nextId();
      assert.ok(id > last, clock);
      last = id;
      if (turn % 100 === 0) assert.ok(decode(id).unixMs <= Date.now(), clock);
    }
  }
});

test('clocks share the position of their node', () => {
  const generators = ['system', 'coarse', undefined].map(
    (clock) => new Generator({ node: 702, clock }),
  );
  let last = -1n;
  for (let turn = 0; turn < 6000; turn += 1) {
    const id = generators[turn % 3].nextId();
    assert.ok(id > last);
    last = id;
  }
});

test('generators reject unknown clocks', () => {
  for (const clock of ['', 'Coarse', 'sundial']) {
    assert.throws(
      () => new Generator({ node: 1, clock }),
      (error) => withCode('FLAKEID_INVALID_OPTION')(error) && /system, coarse/.test(error.message),
    );
  }
  for (const clock of [5, {}, null]) {
    assert.throws(() => new Generator({ node: 1, clock }), { code: 'ERR_INVALID_ARG_TYPE' });
  }
});

test('one generator uses several nodes', () => {
  const generator = new Generator({ nodes: [711, 709n, 712, 710] });
  assert.deepEqual([generator.nodes, generator.node], [[709, 710, 711, 712], 709]);
  const ids = generator.nextIds(50_000);
  const used = new Set();
  for (let index = 1; index < ids.length; index += 1) {
    assert.ok(ids[index] > ids[index - 1]);
    used.add(decode(ids[index]).node);
  }
  assert.deepEqual([...used].sort(), generator.nodes);
});

test('generators reject invalid nodes', () => {
  const refused = (options) => {
    try {
      return new Generator(options);
    } catch (error) {
      return error.code;
    }
  };
  for (const nodes of [[], [1, 2, 3], [1, 1]])
    assert.equal(refused({ nodes }), 'FLAKEID_INVALID_OPTION', `${nodes}`);
  for (const nodes of [[1024], [-1], [1, 2n ** 70n]])
    assert.equal(refused({ nodes }), 'FLAKEID_FIELD_OUT_OF_RANGE', `${nodes}`);
  for (const nodes of [1, '12', {}, null, [1, '2'], [0.5]])
    assert.equal(refused({ nodes }), 'ERR_INVALID_ARG_TYPE', `${nodes}`);
  assert.equal(refused({ node: 1, nodes: [1, 2] }), 'FLAKEID_INVALID_OPTION');
});

test('a lease supports several nodes and a named clock', async () => {
  const generator = await Generator.lease(urlOf(storeDirectory()), {
    nodeCount: 4,
    clock: 'coarse',
  });
  const { nodes } = generator;
  assert.equal(new Set(nodes).size, 4);
  const ids = generator.nextIds(20_000);
  for (let index = 1; index < ids.length; index += 1) assert.ok(ids[index] > ids[index - 1]);
  assert.ok(decode(ids[0]).unixMs <= Date.now());
  await generator.close();
  assert.deepEqual(generator.nodes, nodes, 'those it had');
});
