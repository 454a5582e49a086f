import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

// In a file of its own, so that it runs beside the others.
test('type checkers accept the framework modules', () => {
  const compile = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'];
  const { status, stdout } = spawnSync(process.execPath, compile, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
