// Leases of a process on a host whose clock is eight hours wrong for three seconds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { storeDirectory, urlOf } from './store.mjs';

const worker = fileURLToPath(new URL('clock-worker.mjs', import.meta.url));

// Starts a worker that reads a clock of its own, through libfaketime.
function host(nodeCount) {
  const directory = storeDirectory();
  const clock = `${directory}/clock`;
  const setError = (hours) => {
    writeFileSync(`${clock}.new`, `${hours < 0 ? '' : '+'}${hours * 3600}\n`);
    renameSync(`${clock}.new`, clock);
  };
  setError(0);
  const folder = readdirSync('/usr/lib').find((name) => name.endsWith('-linux-gnu'));
  const env = {
    ...process.env,
    LD_PRELOAD: `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  delete env.NODE_TEST_CONTEXT;
  const stdio = ['pipe', 'pipe', 'inherit'];
  const child = spawn(process.execPath, [worker, urlOf(directory), nodeCount], { env, stdio });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last = 0n;
  // Whether the worker generated an ID, which must be above the last one.
  const nextId = async () => {
    child.stdin.write('\n');
    const { value } = await lines.next();
    if (/^FLAKEID_(LEASE_EXPIRED|CLOCK_ROLLBACK|CLOCK_SKEW)$/.test(value)) return false;
    assert.ok(BigInt(value) > last, `${value} follows ${last}`);
    last = BigInt(value);
    return true;
  };
  return { child, setError, nextId };
}

async function checkJump(t, hours, nodeCount) {
  const { child, setError, nextId } = host(nodeCount);
  t.after(() => child.kill('SIGKILL'));
  assert.ok(await nextId());
  setError(hours);
  for (const begun = performance.now(); performance.now() < begun + 3000; await pause(20)) {
    await nextId();
  }
  setError(0);
  const right = performance.now();
  let issued = right;
  for (; performance.now() < right + 5000 || issued === right; await pause(50)) {
    if (await nextId()) issued = performance.now();
    // Two seconds without an ID are enough on a machine that does nothing else.
    assert.ok(performance.now() < issued + 10_000);
  }
  child.stdin.end();
  await once(child, 'exit');
}

describe('leases continue after the clock was wrong', { concurrency: true }, () => {
  for (const hours of [8, -8]) {
    for (const nodeCount of [1, 2]) {
      test(`${nodeCount} nodes, ${hours} h`, (t) => checkJump(t, hours, nodeCount));
    }
  }
});
