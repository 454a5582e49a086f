// Bundles a Worker as the tools of Cloudflare do, and runs two isolates of it in workerd.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import esbuild from 'esbuild';

import { Broker, TOKEN } from './harness/broker.mjs';

const MODULES = ['flakeid.wasm', 'flakeid_lease.wasm'];

before(async () => {
  await mkdir('dist', { recursive: true });
  const { warnings } = await esbuild.build({
    entryPoints: ['src/worker.js'],
    outfile: 'dist/worker.js',
    bundle: true,
    // The clocks stand still before the package is evaluated.
    inject: ['src/still.js'],
    minify: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['*.wasm'],
  });
  assert.deepEqual(warnings, []);
  for (const name of MODULES) {
    await copyFile(`node_modules/flakeid-core/wasm/${name}`, `dist/${name}`);
  }
});

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// Starts workerd with two isolates of the Worker, and returns functions that request routes from them.
async function startIsolates(t, url) {
  const names = ['one', 'two'];
  const ports = await Promise.all(names.map(freePort));
  const files = MODULES.map((name) => `(name = "${name}", wasm = embed "dist/${name}")`).join(', ');
  const config = `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        ${names.map((name) => `(name = "${name}", worker = .worker)`).join(', ')},
        (name = "internet", network = (allow = ["public", "private"])),
      ],
      sockets = [
        ${names.map((name, index) => `(name = "${name}", address = "127.0.0.1:${ports[index]}", http = (), service = "${name}")`).join(', ')}
      ],
    );
    const worker :Workerd.Worker = (
      modules = [(name = "worker.js", esModule = embed "dist/worker.js"), ${files}],
      compatibilityDate = "2024-09-23",
      bindings = [(name = "BROKER", text = "${url}")],
    );
  `;
  await writeFile('config.capnp', config);
  const workerd = spawn('node_modules/workerd/bin/workerd', ['serve', 'config.capnp'], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const ended = once(workerd, 'exit');
  t.after(async () => {
    workerd.kill('SIGKILL');
    await ended;
  });
  let output = '';
  workerd.stderr.on('data', (data) => {
    output += data;
  });
  const isolates = ports.map((port) => async (route) => {
    const response = await fetch(`http://127.0.0.1:${port}/${route}`);
    assert.equal(response.status, 200, `${route}: ${output}`);
    return response.json();
  });
  for (;;) {
    const answer = await isolates[0]('refused').catch((error) => error);
    if (!(answer instanceof TypeError)) return isolates;
    const isOver = await Promise.race([ended, sleep(50)]);
    assert.equal(isOver, undefined, output);
  }
}

test('an isolate is refused a fixed node without the word of the program', async (t) => {
  for (const isolate of await startIsolates(t, '')) {
    const { node, store, auto } = await isolate('refused');
    assert.equal(node.code, 'FLAKEID_INVALID_OPTION');
    assert.match(node.message, /^exclusive: missing: .* node 8,.* Generator\.lease/);
    for (const { code, message } of [store, auto]) {
      assert.equal(code, 'FLAKEID_INVALID_OPTION');
      assert.match(message, /^a lease from a store needs the native add-on/);
    }
  }
});

test('calls of an isolate wait with timers while its clock stands still', async (t) => {
  const [isolate] = await startIsolates(t, '');
  for (let turn = 0; turn < 3; turn += 1) {
    const { blocked, wasStill, ids, text } = await isolate('fixed');
    assert.ok(wasStill);
    assert.equal(blocked.code, 'FLAKEID_SEQUENCE_EXHAUSTED');
    assert.match(blocked.message, /^the clock stands still: .* use nextIdAsync/);
    assert.equal(new Set(ids).size, 20_000);
    assert.equal(text, `order_${ids[0]}`);
  }
});

test('isolates lease their nodes within requests, without a timer between them', {
  timeout: 60_000,
}, async (t) => {
  const broker = await Broker.start(t);
  const isolates = await startIsolates(t, `http://:${TOKEN}@${broker.address}`);
  const made = new Set();
  const request = async (isolate, count) => {
    const answer = await isolate(`leased?count=${count}`);
    assert.equal(answer.ids.length, count + 1);
    for (const id of answer.ids) {
      assert.ok(!made.has(id), `${id} was issued twice`);
      made.add(id);
    }
    return answer;
  };
  const nodes = new Set();
  for (let turn = 0; turn < 30; turn += 1) {
    for (const isolate of isolates) nodes.add((await request(isolate, 100)).node);
    await sleep(100);
  }
  assert.equal(nodes.size, 2);
  const { grants, renewals } = await request(isolates[0], 20_000);
  assert.equal(grants, 1);
  // The window of a second was renewed by requests, for three seconds.
  assert.ok(renewals >= 2, `${renewals}`);
  // Requests at once share the lease, and only one of them renews it.
  await sleep(1500);
  await Promise.all(Array.from({ length: 20 }, () => request(isolates[0], 100)));
  // Without a request, nothing is renewed, so the window ends, and the next request waits for another one.
  await broker.kill();
  await sleep(1500);
  const failed = await isolates[0]('leased').catch((error) => error);
  assert.match(failed.message, /500/);
  await broker.run(broker.address);
  await request(isolates[0], 100);
  const { node } = await request(isolates[0], 1);
  assert.equal(await broker.stateOf(node), 'held');
  assert.equal((await isolates[0]('closed')).code, 'FLAKEID_CLOSED');
  assert.equal(await broker.stateOf(node), 'free');
});
