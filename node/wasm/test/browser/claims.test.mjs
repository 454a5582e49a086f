// Tests in a real browser that no two pages and workers of an origin issue IDs of one fixed node.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openBrowser, resultOf, servePages } from './harness.mjs';

const TIMEOUT = 10_000;

test('one of the pages and workers of an origin gets a fixed node', {
  timeout: 60_000,
}, async (t) => {
  const origin = await servePages(t);
  const browser = await openBrowser(t);
  const profile = await browser.newContext();
  const open = async (from = origin) => {
    const page = await profile.newPage();
    await page.goto(`${from}/test/page.html?module=./claims.js&node=7`);
    return [page, await resultOf(page, [], TIMEOUT)];
  };
  const checkRefused = ({ early, refused, ids }) => {
    assert.equal(ids, undefined);
    assert.deepEqual([early.code, early.retryAfterMs], ['FLAKEID_NODE_IN_USE', 1]);
    assert.match(early.message, /await the first ID with nextIdAsync/);
    assert.deepEqual([refused.code, refused.retryAfterMs], ['FLAKEID_NODE_IN_USE', undefined]);
    assert.match(refused.message, /^node: 7 is in use .* lease the nodes/);
  };
  const checkOne = (results) => {
    const [holder, ...others] = results.toSorted((one) => (one.ids === undefined ? 1 : -1));
    assert.equal(new Set(holder.ids).size, 102);
    assert.equal(holder.early.code, 'FLAKEID_NODE_IN_USE');
    for (const other of others) checkRefused(other);
  };

  const [page, results] = await open();
  checkOne(results);
  const [, inTab] = await open();
  for (const result of inTab) checkRefused(result);
  await page.close();
  const [, afterwards] = await open();
  checkOne(afterwards);

  // Without a secure context, a page has no locks, so the generator is refused without a word of the program.
  const insecure = await profile.newPage();
  await insecure.goto(
    `${origin.replace('127.0.0.1', 'insecure.test')}/test/page.html?module=./claims.js&node=7`,
  );
  await assert.rejects(resultOf(insecure, [], TIMEOUT), /exclusive: missing: .* node 7,/);
});
