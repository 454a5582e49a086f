import * as flakeid from 'flakeid-core';
import * as wasm from 'flakeid-wasm';
import { expect, test } from 'vitest';

import check from '../../checks.cjs';

const equal = (one, other) => expect(one).toBe(other);

test('the package works in Vitest', async () => {
  check(flakeid, equal);
  const ids = await check.lease(flakeid, process.env.FLAKEID_STORE);
  expect(new Set(ids).size).toBe(2000);
});

test('the WebAssembly package works in Vitest', () => {
  check(wasm, equal);
});
