// Tests of several copies of the package's JavaScript with one add-on, as Jest creates them for
// each test file.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import '../subject.mjs';

const require = createRequire(import.meta.url);

function copy() {
  for (const path of Object.keys(require.cache)) {
    if (!path.endsWith('.node')) delete require.cache[path];
  }
  return require('flakeid-core');
}

test('copies of the package issue IDs of their own generators', () => {
  const copies = [copy(), copy(), copy()];
  assert.notEqual(copies[0].Generator, copies[1].Generator);
  const generators = copies.map(({ Generator }, node) => new Generator({ node: node + 1 }));
  const locals = generators.map((generator) => generator.local());
  const seen = new Set();
  for (let turn = 0; turn < 1000; turn++) {
    for (const [index, { decode }] of copies.entries()) {
      for (const id of [generators[index].nextId(), locals[index].nextId()]) {
        assert.equal(decode(id).node, index + 1);
        seen.add(id);
      }
    }
  }
  assert.equal(seen.size, 6000);
});

test('copies of the package share the position of a node', () => {
  const [one, other] = [copy(), copy()].map(({ Generator }) => new Generator({ node: 77 }));
  const ids = Array.from({ length: 2000 }, (_, turn) => (turn % 2 ? one : other).nextId());
  assert.equal(new Set(ids).size, 2000);
});

test('errors are instances of the class of every copy', () => {
  const [one, other] = [copy(), copy()];
  for (const { Generator, FlakeIdError } of [one, other]) {
    const generator = new Generator({ node: 5 });
    generator.retire();
    const isOfBoth = (error) =>
      error instanceof FlakeIdError
      && error instanceof one.FlakeIdError
      && error instanceof other.FlakeIdError
      && error.code === 'FLAKEID_CLOSED';
    assert.throws(() => generator.nextId(), isOfBoth);
  }
  for (const value of [new Error('x'), null, undefined, 1, 'x', {}, () => 0]) {
    assert.ok(!(value instanceof one.FlakeIdError));
  }
  class Own extends one.FlakeIdError {}
  assert.ok(new Own('FLAKEID_CLOSED', 'x') instanceof Own);
  assert.ok(!(new other.FlakeIdError('FLAKEID_CLOSED', 'x') instanceof Own));
});
