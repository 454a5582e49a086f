import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from '../subject.mjs';
import { withCode } from '../vectors.mjs';

const { Generator, fromBuffer, toBuffer, toHex } = flakeid;

test('buffers convert to IDs and back', () => {
  const id = 910499571847892992n;
  const buffer = toBuffer(id);
  assert.ok(Buffer.isBuffer(buffer));
  assert.equal(buffer.toString('hex'), toHex(id));
  assert.equal(fromBuffer(buffer), id);
  assert.equal(fromBuffer(Buffer.concat([Buffer.alloc(3), buffer]).subarray(3)), id);
  for (const value of [undefined, '12345678', new Uint8Array(8), [], 1n]) {
    assert.throws(() => fromBuffer(value), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const length of [0, 7, 9]) {
    assert.throws(() => fromBuffer(Buffer.alloc(length)), withCode('FLAKEID_INVALID_ID'));
  }
});

test('fill handles shared, resizable, detached and foreign memory', () => {
  const generator = new Generator({ node: 31 });
  const shared = new BigUint64Array(new SharedArrayBuffer(64));
  assert.equal(generator.fill(shared), 8);
  assert.equal(new Set(shared).size, 8);
  const signed = new BigInt64Array(shared.buffer, 8, 2);
  assert.equal(generator.tryFill(signed) > 0, true);

  const buffer = new ArrayBuffer(16, { maxByteLength: 64 });
  const growing = new BigUint64Array(buffer);
  buffer.resize(64);
  assert.equal(generator.fill(growing), 8);
  buffer.resize(8);
  assert.equal(generator.fill(growing), 1);
  buffer.resize(0);
  assert.equal(generator.fill(growing), 0);

  const detached = new BigUint64Array(4);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  assert.equal(generator.fill(detached), 0);

  const memory = new WebAssembly.Memory({ initial: 1 });
  assert.equal(generator.fill(new BigUint64Array(memory.buffer)), 8192);
});

test('generators and their functions can be collected', async () => {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let collected = 0;
  const registry = new FinalizationRegistry(() => {
    collected += 1;
  });
  for (let round = 0; round < 200; round += 1) {
    const generator = new Generator({ node: 32 });
    registry.register(generator);
  }
  for (let turn = 0; turn < 20 && collected < 100; turn += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(collected >= 100, `${collected} of 200 were collected`);
});
