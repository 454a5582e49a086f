// Tests of leases in a real browser: a page and its worker lease from a broker of another origin.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Broker, TOKEN } from '../broker.mjs';
import { openBrowser, resultOf, servePages } from './harness.mjs';

test('a page and its worker lease nodes', { timeout: 60_000 }, async (t) => {
  const origin = await servePages(t);
  const browser = await openBrowser(t);
  const open = async (broker) => {
    const page = await browser.newPage();
    const complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    const asked = new URLSearchParams({ module: './leasing.js', url: broker.url, token: TOKEN });
    await page.goto(`${origin}/test/page.html?${asked}`);
    return { page, complaints };
  };

  const allowing = await Broker.start(t, '--allow-origin', origin);
  const { page, complaints } = await open(allowing);
  const result = await resultOf(page, complaints, 15_000);
  assert.deepEqual(complaints, []);
  const nodes = result.flatMap((agent) => agent.nodes);
  assert.equal(new Set(nodes).size, 4, `${nodes}`);
  const ids = result.flatMap((agent) => agent.ids);
  assert.equal(new Set(ids).size, 2 * 2 * 2 * 30);
  const renewals = result.flatMap((agent) => agent.renewals);
  assert.ok(
    renewals.every((count) => count >= 1),
    `${renewals}`,
  );
  for (const node of nodes) assert.equal(await allowing.stateOf(node), 'free');

  const other = await Broker.start(t, '--allow-origin', 'https://app.example');
  const refused = await open(other);
  await assert.rejects(
    resultOf(refused.page, refused.complaints, 15_000),
    /cannot be reached|Failed to fetch/,
  );
  assert.ok(refused.complaints.some((text) => text.includes('CORS')));
});
