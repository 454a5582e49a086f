// Runs the checks in the runtime that starts this program.

import assert from 'node:assert/strict';

import * as flakeid from 'flakeid-core';
import * as wasm from 'flakeid-wasm';

import check from '../checks.cjs';

check(flakeid, assert.equal);
check(wasm, assert.equal);
const ids = await check.lease(flakeid, process.argv[2]);
assert.equal(new Set(ids).size, 2000);
console.log('passed');
