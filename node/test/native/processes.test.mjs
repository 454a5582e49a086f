// Tests that children of Node's fork and cluster are separate processes: with different nodes they
// issue distinct IDs, and they do not inherit any state of the parent.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import flakeid from '../subject.mjs';

const { Generator, decode } = flakeid;
const here = fileURLToPath(import.meta.url);
const COUNT = 20_000;

if (process.env.FLAKEID_TEST_NODE !== undefined) {
  const generator = new Generator({ node: Number(process.env.FLAKEID_TEST_NODE) });
  process.send(generator.nextIds(COUNT).map(String), () => process.disconnect());
} else {
  const ids = (child) =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('error', reject);
    });

  const check = (lists, nodes) => {
    const all = lists.flat();
    assert.equal(all.length, COUNT * nodes.length);
    assert.equal(new Set(all).size, all.length);
    for (const [index, list] of lists.entries()) {
      assert.equal(decode(list[0]).node, nodes[index]);
    }
  };

  test('forked processes issue distinct IDs', async () => {
    const nodes = [21, 22];
    const children = nodes.map((node) =>
      fork(here, {
        env: { ...process.env, FLAKEID_TEST_NODE: `${node}`, NODE_TEST_CONTEXT: undefined },
      }),
    );
    check(await Promise.all(children.map(ids)), nodes);
  });

  test('cluster processes issue distinct IDs', async () => {
    cluster.setupPrimary({ exec: here });
    const nodes = [23, 24];
    const workers = nodes.map((node) =>
      cluster.fork({ FLAKEID_TEST_NODE: `${node}`, NODE_TEST_CONTEXT: '' }),
    );
    check(await Promise.all(workers.map(ids)), nodes);
  });

  test('a restarted process does not repeat IDs', async () => {
    const start = () =>
      ids(
        fork(here, {
          env: { ...process.env, FLAKEID_TEST_NODE: '25', NODE_TEST_CONTEXT: undefined },
        }),
      );
    check([await start(), await start()], [25, 25]);
  });
}
