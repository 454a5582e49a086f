import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

// The test is in a separate file, so that it runs in parallel with the others.
test('type checkers accept the framework modules', () => {
  const compile = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'];
  const { status, stdout } = spawnSync(process.execPath, compile, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
