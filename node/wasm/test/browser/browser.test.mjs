// The installed package in a real browser: on a page's main thread and in a worker.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { test } from 'node:test';

import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.FLAKEID_CHROMIUM ?? '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
};

const root = process.env.FLAKEID_ROOT ?? new URL('../../../..', import.meta.url).pathname;
const installed = createRequire(import.meta.url).resolve('flakeid-wasm/package.json');

const FOLDERS = {
  '/package/': installed.slice(0, -'package.json'.length),
  '/vectors/': `${root}/tests/vectors/`,
  '/test/': new URL('.', import.meta.url).pathname,
  // The loops that Node runs too.
  '/loops/': `${root}/node/test/`,
};

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const folder = Object.keys(FOLDERS).find((known) => pathname.startsWith(known));
  try {
    const content = await readFile(FOLDERS[folder] + pathname.slice(folder.length));
    response.writeHead(200, { 'content-type': TYPES[extname(pathname)] }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

test('a page and its worker', { timeout: 120_000 }, async (t) => {
  const server = createServer(answer);
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    headless: true,
    args: FLAGS,
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(`${error.message} ${error.stack}`));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(`http://127.0.0.1:${server.address().port}/test/page.html`);
  await page
    .waitForFunction('window.result !== undefined', undefined, { timeout: 10_000 })
    .catch((error) => {
      throw new Error(`no result: ${error.message} ${complaints.join('\n')}`);
    });
  const result = await page.evaluate('window.result');
  assert.equal(result.error, undefined);
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
