// Builds the application with both bundlers of Next.js, and requests IDs from it, in Node and in its edge runtime.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Broker, TOKEN } from './harness/broker.mjs';

const NEXT = 'node_modules/next/dist/bin/next';

function build(bundler, environment) {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...environment };
  rmSync('.next', { recursive: true, force: true });
  const built = spawnSync(process.execPath, [NEXT, 'build', bundler], { env, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  assert.doesNotMatch(built.stdout + built.stderr, /flakeid|warning/i);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'flakeid-next-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Starts a server, requests IDs from a route and from a page, and checks that the IDs are distinct.
async function check(t, cwd, program) {
  const port = await freePort();
  const broker = await Broker.start(t);
  const env = {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    FLAKEID_STORE: `sqlite://${temporaryFolder(t)}/flakeid.db`,
    FLAKEID_BROKER: `http://:${TOKEN}@${broker.address}`,
    PORT: `${port}`,
    HOSTNAME: '127.0.0.1',
  };
  const server = spawn(process.execPath, program, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => server.kill());
  let output = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const origin = `http://127.0.0.1:${port}`;
  const ended = once(server, 'exit');
  for (;;) {
    const isUp = await fetch(origin).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    const isOver = await Promise.race([ended, new Promise((done) => setTimeout(done, 100))]);
    assert.equal(isOver, undefined, output);
  }
  const ids = new Set();
  for (let turn = 0; turn < 10; turn += 1) {
    const route = await fetch(`${origin}/api/id`);
    assert.equal(route.status, 200, output);
    ids.add((await route.json()).id);
    ids.add(/id=(\d+)/.exec(await (await fetch(origin)).text())[1]);
  }
  assert.equal(ids.size, 20);
  for (let turn = 0; turn < 10; turn += 1) {
    const edge = await fetch(`${origin}/api/edge`);
    assert.equal(edge.status, 200, output);
    const { refused, id, leased } = await edge.json();
    assert.equal(refused, 'FLAKEID_INVALID_OPTION');
    ids.add(/^order_(\d+)$/.exec(id)[1]).add(leased);
  }
  assert.equal(ids.size, 40);
  server.kill();
  await ended;
}

for (const bundler of ['--turbopack', '--webpack']) {
  test(`an application built with ${bundler} issues IDs without settings`, async (t) => {
    build(bundler, {});
    await check(t, '.', [NEXT, 'start']);
  });

  test(`a standalone application built with ${bundler} contains the add-on`, async (t) => {
    build(bundler, { STANDALONE: '1' });
    // Outside the project, the application finds only the packages that it contains.
    const folder = temporaryFolder(t);
    cpSync('.next/standalone', folder, { recursive: true });
    await check(t, folder, ['server.js']);
  });
}
