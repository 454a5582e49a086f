// Tests of the behaviour that only WebAssembly has: how it is loaded, and how it waits.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import flakeid, * as named from 'flakeid-core/wasm';

const require = createRequire(import.meta.url);
const folder = require.resolve('flakeid-core/package.json').replace('package.json', '');

test('require and import share one instance', () => {
  assert.equal(require('flakeid-core/wasm'), flakeid);
  const { default: _, ...all } = named;
  assert.deepEqual(Object.keys(all).sort(), Object.keys(flakeid).sort());
});

test('init accepts bytes, a module and the default source', async () => {
  const bytes = readFileSync(require.resolve('flakeid-core/flakeid.wasm'));
  const web = await import(`${folder}wasm/init.mjs`);
  await assert.rejects(web.init(new Uint8Array([1, 2, 3])), WebAssembly.CompileError);
  const api = await web.init(await WebAssembly.compile(bytes));
  assert.equal(await web.init(), api);
  const id = new api.Generator({ node: 3, exclusive: true }).nextId();
  assert.equal(flakeid.decode(id).node, 3);
});

// Runs a statement with the main entry on another platform.
function onPlatform(platform, arch, statement) {
  const pretend = `
    Object.defineProperty(process, 'platform', { value: '${platform}' });
    Object.defineProperty(process, 'arch', { value: '${arch}' });
    const flakeid = require('flakeid-core');
  `;
  const program = `${pretend} const pretend = ${JSON.stringify(pretend)}; ${statement}`;
  return spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
}

test('Node uses WebAssembly on platforms without an add-on, and warns once', () => {
  const again = `
    delete require.cache[require.resolve('flakeid-core')];
    const { Generator } = require('flakeid-core');
    const { Worker } = require('node:worker_threads');
    new Worker(pretend + 'new flakeid.Generator({ node: 2 }).nextId()', { eval: true });
    console.log(Generator === flakeid.Generator, new Generator({ node: 1 }).nextId());
  `;
  for (const [platform, arch] of [
    ['freebsd', 'x64'],
    ['linux', 'riscv64'],
    ['win32', 'arm64'],
  ]) {
    const { status, stdout, stderr } = onPlatform(platform, arch, again);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^true \d+n\n$/);
    const warnings = stderr.match(/FLAKEID_WEBASSEMBLY/g);
    assert.equal(warnings.length, 1, stderr);
    assert.match(stderr, /no add-on flakeid-core-.*WebAssembly/);
  }
});

test('a platform whose package is missing fails with an error that names the package', () => {
  const { status, stderr } = onPlatform('win32', 'x64', '');
  assert.equal(status, 1);
  assert.match(stderr, /cannot find its package flakeid-core-win32-x64-msvc/);
});

test('calls that need the add-on fail with an error that names it', async () => {
  const { BufferedGenerator, CachedGenerator, Generator, LocalGenerator, createNamespace } =
    flakeid;
  const generator = new Generator({ node: 1000 });
  const refused = (name) => ({
    code: 'FLAKEID_INVALID_OPTION',
    message: new RegExp(`^${name} needs the native add-on`),
  });
  assert.throws(() => new CachedGenerator(generator), refused('CachedGenerator'));
  await assert.rejects(createNamespace('sqlite://a.db', 'a'), refused('createNamespace'));
  await assert.rejects(Generator.auto(), refused('a lease from a store'));
  await assert.rejects(Generator.lease('postgresql://db'), refused('a lease from a store'));
  const ids = [new LocalGenerator(generator), new BufferedGenerator(generator)].flatMap((handle) =>
    Array.from({ length: 10_000 }, () => handle.nextId()),
  );
  assert.equal(new Set([...ids, generator.nextId()]).size, 20_001);
  generator.retire();
  assert.throws(() => generator.buffered().nextId(), { code: 'FLAKEID_CLOSED' });
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
