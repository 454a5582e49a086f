// Builds an application with Nest, and requests IDs from it.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('an application built by Nest issues IDs and releases its node', async (t) => {
  const build = ['node_modules/@nestjs/cli/bin/nest.js', 'build'];
  const built = spawnSync(process.execPath, build, { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stdout + built.stderr);

  const folder = mkdtempSync(join(tmpdir(), 'flakeid-nest-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = `sqlite://${folder}/flakeid.db`;
  const server = spawn(process.execPath, ['dist/main.js'], {
    env: { ...process.env, FLAKEID_STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => server.kill('SIGKILL'));
  const [line] = await once(server.stdout, 'data');
  const origin = `${line}`.trim();
  const ids = new Set();
  for (let turn = 0; turn < 20; turn += 1) ids.add((await (await fetch(origin)).json()).id);
  assert.equal(ids.size, 20);

  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
  const list = [process.env.FLAKEID_COMMAND, ['leases', 'ls', '--all', '--store', store]];
  const { state } = JSON.parse(spawnSync(...list, { encoding: 'utf8' }).stdout);
  assert.equal(state, 'free');
});
