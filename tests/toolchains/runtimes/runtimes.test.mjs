// Runs the packages in the runtimes that compete with Node.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

function run(t, program, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'flakeid-runtimes-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const all = [...options, `sqlite://${folder}/flakeid.db`];
  const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${program}`, all, {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, 'passed\n');
}

test('Bun runs both packages', (t) => run(t, 'bun', 'ids.mjs'));

test('Bun runs a bundle of both packages', (t) => {
  const build = ['build', 'ids.mjs', '--target=bun', '--outdir=dist', '--minify'];
  const { status, stderr } = spawnSync('node_modules/.bin/bun', build, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  run(t, 'bun', 'dist/ids.js');
});

test('Deno runs both packages', (t) => {
  run(t, 'deno', 'run', '--node-modules-dir=manual', '--allow-all', 'ids.mjs');
});

// In production, a worker's clock stands still while code runs.
test('workerd ends calls of the WebAssembly package while its clock stands still', () => {
  const bundle = ['build', 'worker.mjs', '--target=browser', '--external=flakeid.wasm'];
  const program = (name) => `node_modules/.bin/${name}`;
  const built = spawnSync(program('bun'), [...bundle, '--outdir=dist'], { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  const options = { encoding: 'utf8', timeout: 60_000 };
  const { status, stdout, stderr } = spawnSync(
    program('workerd'),
    ['test', 'config.capnp'],
    options,
  );
  assert.equal(status, 0, stdout + stderr);
});
