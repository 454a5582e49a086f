// Tests that the processes of a cluster lease one node each, and issue ten million distinct IDs.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import flakeid from '../subject.mjs';
import { assertUnique, storeDirectory, urlOf } from './store.mjs';

const { Generator, decode } = flakeid;
const here = fileURLToPath(import.meta.url);
const WORKERS = 8;
const EACH = 1_250_000;
const SINGLE = 50_000;

async function work(url, file) {
  const generator = await Generator.lease(url, { maxWaitMs: 10_000 });
  const ids = new BigUint64Array(EACH);
  let count = 0;
  for (; count < SINGLE; count += 1) ids[count] = await next(generator);
  while (count < EACH) {
    const more = await generator.nextIdsAsync(Math.min(100_000, EACH - count));
    for (const id of more) ids[count++] = id;
  }
  writeFileSync(file, ids);
  process.send({ node: generator.node }, () => process.disconnect());
}

async function next(generator) {
  try {
    return generator.nextId();
  } catch (error) {
    // These errors are expected, because the machine has more processes than processors.
    if (error.retryAfterMs === undefined && error.code !== 'FLAKEID_LEASE_EXPIRED') throw error;
    return generator.nextIdAsync();
  }
}

async function gather(children, files) {
  const nodes = await Promise.all(
    children.map(async (child) => {
      const [[{ node }], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
      assert.equal(code, 0);
      return node;
    }),
  );
  const all = new BigUint64Array(files.length * EACH);
  files.forEach((file, index) => {
    const { buffer, byteOffset, length } = readFileSync(file);
    assert.equal(length, EACH * 8);
    const ids = new BigUint64Array(buffer.slice(byteOffset, byteOffset + length));
    assert.equal(decode(ids[0]).node, nodes[index]);
    all.set(ids, index * EACH);
  });
  assertUnique(all);
}

if (process.env.FLAKEID_TEST_FILE !== undefined) {
  await work(process.env.FLAKEID_TEST_STORE, process.env.FLAKEID_TEST_FILE);
} else {
  const settings = (directory, file) => ({
    FLAKEID_TEST_STORE: urlOf(directory),
    FLAKEID_TEST_FILE: file,
    NODE_TEST_CONTEXT: '',
  });

  test('cluster processes issue ten million distinct IDs', async () => {
    const directory = storeDirectory();
    const files = Array.from({ length: WORKERS }, (_, index) => join(directory, `${index}.ids`));
    cluster.setupPrimary({ exec: here });
    await gather(
      files.map((file) => cluster.fork(settings(directory, file)).process),
      files,
    );
  });

  test('forked processes lease different nodes', async () => {
    const directory = storeDirectory();
    const files = [join(directory, '0.ids'), join(directory, '1.ids')];
    const children = files.map((file) =>
      fork(here, { env: { ...process.env, ...settings(directory, file) } }),
    );
    await gather(children, files);
  });
}
