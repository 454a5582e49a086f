// Tests of the installed package in a real browser: on a page's main thread and in a worker.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openBrowser, resultOf, servePages } from './harness.mjs';

test('a page and its worker pass all checks', { timeout: 120_000 }, async (t) => {
  const origin = await servePages(t);
  const browser = await openBrowser(t);
  const page = await browser.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(`${error.message} ${error.stack}`));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(`${origin}/test/page.html?module=./checks.js`);
  const result = await resultOf(page, complaints, 10_000);
  assert.deepEqual(
    result.map(({ agent }) => agent),
    ['page', 'worker'],
  );
  assert.deepEqual(complaints, []);
  const version = browser.version();
  for (const { agent, steps, last, full } of result) {
    assert.ok(steps > 0, agent);
    t.diagnostic(`${agent}: ${steps} steps, ${last}, ${full} full ticks; ${version}`);
  }
});
