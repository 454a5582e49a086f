const { jest: runner } = require('@jest/globals');

const check = require('../../checks.cjs');

test('the package works in Jest', async () => {
  check(require('flakeid-core'), (one, other) => expect(one).toBe(other));
  const ids = await check.lease(require('flakeid-core'), process.env.FLAKEID_STORE);
  expect(new Set(ids).size).toBe(2000);
});

test('WebAssembly works in Jest', () => {
  check(require('flakeid-core/wasm'), (one, other) => expect(one).toBe(other));
});

test('fake timers stop no call in Jest', async () => {
  runner.useFakeTimers();
  try {
    const ids = await new (require('flakeid-core').Generator)({ node: 8 }).nextIdsAsync(10_000);
    expect(ids.length).toBe(10_000);
    const generator = new (require('flakeid-core/wasm').Generator)({ node: 8 });
    const fillsTick = () => {
      for (let n = 0; n <= 4096; n += 1) generator.nextId();
    };
    expect(fillsTick).toThrow('the clock stands still');
  } finally {
    runner.useRealTimers();
  }
});
