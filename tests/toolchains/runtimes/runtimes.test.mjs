// Runs the package in the runtimes that compete with Node, and in Node without the add-on.

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
  const { status, stdout, stderr } = spawnSync(program, all, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, 'passed\n');
  return stderr;
}

const BUN = 'node_modules/.bin/bun';

test('Bun runs the add-on', (t) => run(t, BUN, 'ids.mjs'));

test('Bun runs a bundle', (t) => {
  const build = ['build', 'ids.mjs', '--target=bun', '--outdir=dist', '--minify'];
  const { status, stderr } = spawnSync(BUN, build, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  run(t, BUN, 'dist/ids.js');
});

test('Deno runs the add-on', (t) => {
  const options = ['run', '--node-modules-dir=manual', '--allow-all'];
  run(t, 'node_modules/.bin/deno', ...options, 'ids.mjs');
});

test('Node runs WebAssembly without the add-on, and warns once', (t) => {
  const warned = run(t, process.execPath, '--require=./elsewhere.cjs', 'ids.mjs');
  assert.equal(warned.match(/FLAKEID_WEBASSEMBLY/g).length, 1, warned);
});
