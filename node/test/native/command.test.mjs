// Tests of the command that npm installs with the package.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { decode } from 'flakeid-core';

import { storeDirectory, urlOf } from './store.mjs';

const { resolve } = createRequire(import.meta.url);
const launcher = join(dirname(resolve('flakeid-core/package.json')), 'bin/flakeid.js');

const run = (...arguments_) =>
  spawnSync(process.execPath, [launcher, ...arguments_], { encoding: 'utf8' });

test('the command leases a node and prints IDs', () => {
  const { status, stdout, stderr } = run('next', '-n', '3', '--store', urlOf(storeDirectory()));
  assert.equal(status, 0, stderr);
  const ids = stdout.trim().split('\n').map(BigInt);
  assert.equal(new Set(ids).size, 3);
  assert.equal(decode(ids[0]).node >= 0, true);
});

test('the command exits with its own status and messages', () => {
  const { status, stderr } = run('next', '--node', '5000');
  assert.equal(status > 0, true);
  assert.match(stderr, /node/);
});

// Windows ends a process without sending it a signal.
if (process.platform !== 'win32') {
  test('a signal ends the command', async (t) => {
    const store = urlOf(storeDirectory());
    const server = spawn(
      process.execPath,
      [launcher, 'serve', '--store', store, '--listen', '127.0.0.1:0', '--drain', '0s'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    t.after(() => server.kill('SIGKILL'));
    await once(server.stdout, 'data');
    server.kill('SIGTERM');
    const [code] = await once(server, 'exit');
    assert.equal(code, 0);
  });
}
