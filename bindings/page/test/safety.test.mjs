// Tests that the page runs no scripts from outside, sends no requests, and stores nothing.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { openBrowser, openPage, panel } from './harness.mjs';

const PANELS = [
  'One ID',
  'Which system?',
  'Many IDs',
  'Layout',
  'Time range',
  'Public IDs',
  'Generate IDs',
];

test('the policy forbids requests and scripts from outside the file', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { expected: /Content Security Policy/ });
  const text = await page
    .locator('meta[http-equiv="Content-Security-Policy"]')
    .getAttribute('content');
  const directives = Object.fromEntries(
    text.split('; ').map((directive) => {
      const [name, ...values] = directive.split(' ');
      return [name, values.map((value) => value.replace(/^'sha256-[\w+/]{43}='$/, 'hash'))];
    }),
  );
  assert.deepEqual(directives, {
    'default-src': ["'none'"],
    'script-src': ['hash', "'wasm-unsafe-eval'"],
    'style-src': ['hash'],
    'img-src': ['data:'],
    'worker-src': ['blob:'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
  });
  const { injected, fetched, rejected } = await page.evaluate(async () => {
    const violated = [];
    addEventListener('securitypolicyviolation', (event) => violated.push(event.effectiveDirective));
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    const fetching = await fetch('/').then(
      () => 'allowed',
      () => 'rejected',
    );
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    return { injected: window.injected, fetched: fetching, rejected: violated.sort() };
  });
  assert.equal(injected, undefined);
  assert.equal(fetched, 'rejected');
  assert.deepEqual(rejected, ['connect-src', 'script-src-elem']);
});

test('the page stores nothing in the browser', async (t) => {
  const started = await openBrowser();
  const page = await openPage(t, started, { hash: '#id=910499571847892992' });
  for (const name of PANELS) await panel(page, name);
  await panel(page, 'Public IDs');
  await page.getByRole('button', { name: 'New key' }).click();
  await panel(page, 'Generate IDs');
  await page.getByRole('button', { name: 'Generate IDs' }).click();
  await page.getByLabel('The IDs', { exact: true }).waitFor();
  const stored = await page.evaluate(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    cookie: document.cookie,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
  }));
  assert.deepEqual(stored, {
    local: 0,
    session: 0,
    cookie: '',
    databases: 0,
    caches: 0,
    workers: 0,
  });
  assert.deepEqual(await page.context().cookies(), []);
});

// The test uses plain HTTP, as from another host, where the browser allows no clipboard and no
// other functions of secure pages.
test('every function works with `flakeid serve --ui` over plain HTTP', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'flakeid-page-'));
  const { FLAKEID_COMMAND: command, FLAKEID_PAGE: file } = process.env;
  const server = spawn(
    command,
    ['serve', '--listen', '127.0.0.1:0', '--store', `sqlite://${folder}/leases.db`, '--ui', file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(async () => {
    const ended = new Promise((resolve) => {
      server.on('exit', resolve);
    });
    server.kill();
    await ended;
    await rm(folder, { recursive: true });
  });
  const { value: url } = await createInterface({ input: server.stdout })
    [Symbol.asyncIterator]()
    .next();
  const address = `http://flakeid.test:${new URL(url).port}`;
  const { browser } = await openBrowser(['--host-resolver-rules=MAP flakeid.test 127.0.0.1']);
  const page = await openPage(
    t,
    { browser, address },
    { path: '/ui', hash: '#id=910499571847892992' },
  );
  await page.getByText('2017-09-20T13:43:08.849Z').waitFor();
  assert.equal(await page.evaluate('isSecureContext'), false);
  assert.equal(await page.evaluate('navigator.clipboard'), undefined);
  await page.getByRole('button', { name: 'Copy decimal' }).click();
  await page.getByRole('status').filter({ hasText: 'Copied decimal.' }).waitFor();
  await panel(page, 'Many IDs');
  const field = page.getByRole('textbox', { name: 'IDs' });
  await field.press('Control+V');
  assert.equal(await field.inputValue(), '910499571847892992');
  await page.getByRole('button', { name: 'Read IDs' }).click();
  await page.getByText('1 ID read.').waitFor();
  await panel(page, 'Public IDs');
  await page.getByRole('button', { name: 'New key' }).click();
  assert.match(await page.getByLabel('Key').inputValue(), /^a [0-9a-f]{32}$/);
});
