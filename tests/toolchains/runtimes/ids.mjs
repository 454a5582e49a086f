// Runs the checks in the runtime that starts this program, with a lease where there is an add-on.

import assert from 'node:assert/strict';

import * as flakeid from 'flakeid-core';
import { IdText } from 'flakeid-core/json';

import check from '../checks.cjs';

check(flakeid, assert.equal);
assert.equal(new IdText({ prefix: 'order' }).write(1n), 'order_1');
const [, , store] = process.argv;
if (process.env.WITHOUT_ADDON === undefined) {
  const ids = await check.lease(flakeid, store);
  assert.equal(new Set(ids).size, 2000);
} else {
  await assert.rejects(flakeid.Generator.lease(store), /needs the native add-on/);
}
console.log('passed');
