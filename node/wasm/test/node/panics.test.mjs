// Tests that a panic ends the call as a trap: a WebAssembly.RuntimeError. No argument that the
// classes accept causes a panic, so these tests call the module's own functions.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from 'flakeid-core/wasm';

import { anotherInstance } from './installed.mjs';

const NOW = 1_505_914_988_849n;

function traps(call) {
  assert.throws(
    call,
    (error) => error instanceof WebAssembly.RuntimeError && error.message === 'unreachable',
  );
}

function open() {
  const { flakeid: other, glue } = anotherInstance();
  const clock = new other.ManualClock(NOW);
  const generator = new other.Generator({ node: 5, clock });
  return { other, glue, clock, generator, first: generator.nextId() };
}

test('an instance and its generators continue after a panic', async () => {
  const { other, glue, clock, generator, first } = open();
  for (let round = 1n; round <= 100n; round += 1n) {
    // The number is larger than any memory allows.
    traps(() => new glue.Buffer(2 ** 31));
    assert.equal(generator.nextId(), first + round, 'an ID was lost or repeated');
  }
  const ids = new BigUint64Array(1000);
  assert.equal(generator.fill(ids), 1000);
  assert.deepEqual([ids[0], ids[999]], [first + 101n, first + 1100n]);
  assert.equal(await generator.nextIdAsync(), first + 1101n);
  assert.equal(clock.unixMs, NOW);
  assert.throws(() => new other.Generator({ node: 1024 }), {
    code: 'FLAKEID_FIELD_OUT_OF_RANGE',
    field: 'node',
  });
  const next = new other.Generator({ node: 6, clock });
  assert.equal(other.decode(next.nextId()).node, 6);
});

test('a panic in the middle of another call is thrown', () => {
  const { other, glue, generator, first } = open();
  // JavaScript creates the error that the call is about to throw, and makes an impossible request
  // meanwhile.
  let asked = 0;
  glue.setup(() => {
    asked += 1;
    return new glue.Buffer(2 ** 31);
  });
  traps(() => other.fromBase62('?'));
  traps(() => generator.extend(1));
  assert.equal(asked, 2);
  assert.equal(generator.nextId(), first + 1n);
  assert.equal(other.fromBase62(other.toBase62(first)), first);
});

test('a panic does not affect other instances', () => {
  const { glue } = open();
  const generator = new flakeid.Generator({ node: 701 });
  const id = generator.nextId();
  traps(() => new glue.Buffer(2 ** 31));
  assert.ok(generator.nextId() > id);
  assert.throws(() => flakeid.fromBase62('?'), { code: 'FLAKEID_INVALID_ID' });
});
