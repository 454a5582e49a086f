// Runs tests of an application in test runners, which evaluate modules once for each test file.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

function run(t, passed, program, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'flakeid-runners-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { ...process.env, FLAKEID_STORE: `sqlite://${folder}/flakeid.db` };
  // The runner of this test sets a variable, and other runners would read it.
  delete env.NODE_TEST_CONTEXT;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`node_modules/${program}`, ...options],
    { env, encoding: 'utf8' },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout + stderr, new RegExp(`${passed} passed`));
}

test('Jest runs tests with the add-on and with WebAssembly in one process', (t) => {
  run(t, 6, 'jest/bin/jest.js', '--rootDir=jest', '--runInBand');
});

test('Jest runs tests with the add-on and with WebAssembly in several processes', (t) => {
  run(t, 6, 'jest/bin/jest.js', '--rootDir=jest', '--maxWorkers=2');
});

for (const pool of ['threads', 'forks']) {
  test(`Vitest runs tests with the add-on and with WebAssembly in ${pool}`, (t) => {
    run(t, 6, 'vitest/vitest.mjs', 'run', '--dir=vitest', `--pool=${pool}`);
  });
}

test('Vitest runs tests with the add-on and with WebAssembly without isolation', (t) => {
  run(t, 6, 'vitest/vitest.mjs', 'run', '--dir=vitest', '--no-isolate');
});

test('Vitest runs the tests of the guide', (t) => {
  run(t, 2, 'vitest/vitest.mjs', 'run', '--dir=guide');
});
