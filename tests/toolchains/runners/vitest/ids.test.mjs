import * as flakeid from 'flakeid-core';
import * as wasm from 'flakeid-core/wasm';
import { expect, test, vi } from 'vitest';

import check from '../../checks.cjs';

const equal = (one, other) => expect(one).toBe(other);

test('the package works in Vitest', async () => {
  check(flakeid, equal);
  const ids = await check.lease(flakeid, process.env.FLAKEID_STORE);
  expect(new Set(ids).size).toBe(2000);
});

test('WebAssembly works in Vitest', () => {
  // The threads of Vitest cannot see each other's instances.
  check(wasm, equal, { exclusive: true });
});

test('fake timers stop no call in Vitest', async () => {
  vi.useFakeTimers();
  try {
    const ids = await new flakeid.Generator({ node: 8 }).nextIdsAsync(10_000);
    expect(ids.length).toBe(10_000);
    const generator = new wasm.Generator({ node: 8, exclusive: true });
    const fillsTick = () => {
      for (let n = 0; n <= 4096; n += 1) generator.nextId();
    };
    expect(fillsTick).toThrow('the clock stands still');
  } finally {
    vi.useRealTimers();
  }
});
