// Tests that every end of a program or a worker releases its node, and that a lease does not keep a
// process running.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

import flakeid from '../subject.mjs';
import { storeDirectory, urlOf } from './store.mjs';

const { Generator } = flakeid;
const here = fileURLToPath(import.meta.url);
const NODE = 7;

async function hold(url, ending) {
  const generator = await Generator.lease(url, { node: NODE, onEvent: () => undefined });
  generator.nextId();
  if (ending === 'exit') process.exit(0);
  if (ending === 'throw') throw new Error('on purpose');
  if (ending === 'calls') for (let n = 0; n < 8; n += 1) generator.nextIdsAsync(100_000);
  if (ending === 'stay') setInterval(() => undefined, 1000);
  if (ending === 'worker' || ending === 'terminate') {
    await generator.close();
    const worker = new Worker(here, { workerData: { url, ending: 'stay' } });
    await once(worker, 'message');
    if (ending === 'worker') process.exit(0);
    await worker.terminate();
  }
  if (ending === 'collected') {
    globalThis.generator = undefined;
    return;
  }
  // The global keeps the generator reachable until the end.
  globalThis.generator = generator;
}

const url = process.env.FLAKEID_TEST_STORE;
if (!isMainThread) {
  await hold(workerData.url, workerData.ending);
  parentPort.postMessage('held');
} else if (url !== undefined) {
  await hold(url, process.env.FLAKEID_TEST_ENDING);
  if (process.env.FLAKEID_TEST_ENDING === 'collected') {
    // Another process can lease the node as soon as the generator was collected.
    for (let round = 0; round < 10; round += 1) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const again = await Generator.lease(url, { node: NODE, maxWaitMs: 3000 });
    await again.close();
  }
} else {
  for (const ending of ['nothing', 'exit', 'throw', 'calls', 'worker', 'terminate', 'collected']) {
    test(`a node is released at this end: ${ending}`, async () => {
      const store = urlOf(storeDirectory());
      const env = {
        ...process.env,
        FLAKEID_TEST_STORE: store,
        FLAKEID_TEST_ENDING: ending,
        NODE_TEST_CONTEXT: undefined,
      };
      const child = spawn(process.execPath, ['--expose-gc', here], {
        env,
        stdio: ['ignore', 'inherit', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
      });
      const [code, signal] = await once(child, 'close');
      assert.equal(signal, null);
      assert.equal(code, ending === 'throw' ? 1 : 0, said);
      if (ending === 'throw') assert.match(said, /on purpose/);
      // Without the release, no other process could lease the node for a minute.
      const generator = await Generator.lease(store, { node: NODE });
      assert.equal(generator.node, NODE);
      assert.equal(generator.lease.grants, 1);
      await generator.close();
    });
  }

  test('an exception of a listener is an uncaught exception', async () => {
    const code = `
      const { Generator } = require(${JSON.stringify(process.env.FLAKEID_PACKAGE ?? 'flakeid-core')});
      process.once('uncaughtException', (error) => { console.log(error.message); process.exit(3); });
      setInterval(() => {}, 1000);
      Generator.lease(${JSON.stringify(urlOf(storeDirectory()))}, { onEvent: () => { throw new Error('mine'); } });
    `;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    const [status] = await once(child, 'close');
    assert.deepEqual([status, said.trim()], [3, 'mine']);
  });
}
