// Checks that the add-on has exactly the functions that native.d.ts declares.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { test } from 'node:test';

import '../subject.mjs';
import { read } from '../vectors.mjs';

const require = createRequire(import.meta.url);
const installed = dirname(dirname(require.resolve('flakeid-core/package.json')));

test('the add-on has exactly the declared functions', () => {
  const declared = [...read('node/native.d.ts').matchAll(/^export declare function (\w+)/gm)].map(
    (match) => match[1],
  );
  const platforms = readdirSync(installed).filter((name) => name.startsWith('flakeid-core-'));
  assert.equal(platforms.length, 1);
  assert.ok(declared.length > 10);
  assert.deepEqual(Object.keys(require(platforms[0])).sort(), declared.sort());
});

test('invalid arguments do not crash the add-on', () => {
  const addon = require(readdirSync(installed).find((name) => name.startsWith('flakeid-core-')));
  const owned = addon.open({ settings: ['node', '1'] });
  const fill = addon.bindFill(owned);
  for (const value of [
    undefined,
    null,
    1,
    {},
    [],
    new Uint8Array(8),
    new DataView(new ArrayBuffer(8)),
    new BigUint64Array(new SharedArrayBuffer(8)),
  ]) {
    assert.throws(() => fill(value), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const call of [
    () => addon.stats({}),
    () => addon.stats(addon.createClock(1n)),
    () => addon.readClock(owned),
    () => addon.open(),
    () => addon.open({}),
    () => addon.open({ settings: [1] }),
    () => addon.decodeText('base64', '1'),
    () => addon.unpack('twitter', 1),
    () => addon.slotOf(),
    () => addon.slotNumber(owned),
  ]) {
    assert.throws(call, Error);
  }
});
