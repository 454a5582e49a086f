const check = require('../../checks.cjs');

test('the package works in Jest', async () => {
  check(require('flakeid-core'), (one, other) => expect(one).toBe(other));
  const ids = await check.lease(require('flakeid-core'), process.env.FLAKEID_STORE);
  expect(new Set(ids).size).toBe(2000);
});

test('the WebAssembly package works in Jest', () => {
  check(require('flakeid-wasm'), (one, other) => expect(one).toBe(other));
});
