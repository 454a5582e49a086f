// Tests of the behaviour that only the WebAssembly package has: how it is loaded, and how it waits.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import flakeid, * as named from 'flakeid-wasm';
import { init } from 'flakeid-wasm/init';

const require = createRequire(import.meta.url);

test('require and import share one instance', async () => {
  assert.equal(require('flakeid-wasm'), flakeid);
  assert.equal(await init(), flakeid);
  assert.deepEqual(
    Object.keys(named)
      .filter((name) => name !== 'default')
      .sort(),
    Object.keys(flakeid).sort(),
  );
});

test('the web entry exports the same names', () => {
  const web = readFileSync(
    require.resolve('flakeid-wasm/package.json').replace('package.json', 'web/index.js'),
    'utf8',
  );
  const [, names] = /export const \{([^}]+)\} = flakeid;/.exec(web);
  assert.deepEqual(names.match(/\w+/g).sort(), Object.keys(flakeid).sort());
});

test('init accepts bytes, a module and the default source', async () => {
  const folder = require.resolve('flakeid-wasm/package.json').replace('package.json', '');
  const bytes = readFileSync(require.resolve('flakeid-wasm/flakeid.wasm'));
  const web = await import(`${folder}web/init.js`);
  await assert.rejects(web.init(new Uint8Array([1, 2, 3])), WebAssembly.CompileError);
  const api = await web.init(await WebAssembly.compile(bytes));
  assert.equal(await web.init(), api);
  const id = new api.Generator({ node: 3 }).nextId();
  assert.equal(flakeid.decode(id).node, 3);
});

test('generators of one node share their position', () => {
  const ids = [];
  const generators = [0, 1, 2].map(() => new flakeid.Generator({ node: 1001 }));
  for (let turn = 0; turn < 3000; turn += 1) ids.push(generators[turn % 3].nextId());
  const rising = ids.every((id, index) => index === 0 || id > ids[index - 1]);
  assert.ok(rising);
});

test('IDs contain the time at which they are generated', () => {
  const generator = new flakeid.Generator({ node: 1002 });
  for (let turn = 0; turn < 1000; turn += 1) {
    const before = Date.now();
    const { unixMs } = flakeid.decode(generator.nextId());
    assert.ok(unixMs >= before && unixMs <= Date.now(), `${before} ${unixMs}`);
  }
});

// Replaces Date.now, which is the package's clock, so that fake clocks of tests work with the
// package too.
async function withDate(now, body) {
  const original = Date.now;
  Date.now = now;
  try {
    return await body();
  } finally {
    Date.now = original;
  }
}

test('an invalid system clock causes an error', async () => {
  for (const now of [Number.NaN, -Infinity, -1, 0]) {
    const generator = new flakeid.Generator({ node: 1003 });
    await withDate(
      () => now,
      () => {
        assert.throws(() => generator.nextId(), { code: 'FLAKEID_BEFORE_EPOCH' }, `${now}`);
        assert.throws(() => generator.tryNextId(), { code: 'FLAKEID_BEFORE_EPOCH' }, `${now}`);
      },
    );
    assert.ok(generator.nextId() > 0n);
  }
  const late = new flakeid.Generator({ node: 1003 });
  await withDate(
    () => Infinity,
    () => {
      assert.throws(() => late.nextId(), { code: 'FLAKEID_HORIZON_REACHED' });
    },
  );
});

test('a blocking call fails after a tick, an asynchronous one after maxWaitMs', async () => {
  const generator = new flakeid.Generator({ node: 1004, sequenceMask: 0, maxWaitMs: 60 });
  generator.nextId();
  const frozen = Date.now();
  await withDate(
    () => frozen,
    async () => {
      let start = performance.now();
      assert.throws(
        () => {
          generator.nextId();
          generator.nextId();
        },
        { code: 'FLAKEID_SEQUENCE_EXHAUSTED', retryAfterMs: 1 },
      );
      assert.throws(() => generator.nextIds(3), { code: 'FLAKEID_SEQUENCE_EXHAUSTED' });
      assert.ok(performance.now() - start < 50);
      start = performance.now();
      await assert.rejects(generator.nextIdAsync(), { code: 'FLAKEID_SEQUENCE_EXHAUSTED' });
      const waited = performance.now() - start;
      assert.ok(waited >= 55 && waited < 1000, `${waited}`);
    },
  );
  assert.ok(generator.stats().waits >= 3);
  assert.ok(generator.nextId() > 0n);
});

test('policies that do not wait fail at once', async () => {
  const generator = new flakeid.Generator({ node: 1005, sequenceMask: 0, overflow: 'error' });
  generator.nextId();
  const frozen = Date.now() + 1;
  await withDate(
    () => frozen,
    async () => {
      generator.nextId();
      const { waits } = generator.stats();
      assert.throws(() => generator.nextId(), { code: 'FLAKEID_SEQUENCE_EXHAUSTED' });
      await assert.rejects(generator.nextIdAsync(), { code: 'FLAKEID_SEQUENCE_EXHAUSTED' });
      assert.equal(generator.stats().waits, waits);
    },
  );
});

test('the event loop continues while IDs are awaited', async () => {
  const generator = new flakeid.Generator({ node: 1006 });
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const ids = await generator.nextIdsAsync(200_000);
  clearInterval(timer);
  assert.equal(new Set(ids).size, 200_000);
  assert.ok(turns > 10, `${turns}`);
});
