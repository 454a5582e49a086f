// A browser, and a server for the installed package and the pages that test it.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname } from 'node:path';

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
  // A host whose pages are not a secure context.
  '--host-resolver-rules=MAP insecure.test 127.0.0.1',
];

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
};

const root = process.env.FLAKEID_ROOT ?? new URL('../../../..', import.meta.url).pathname;
const installed = createRequire(import.meta.url).resolve('flakeid-core/package.json');

const FOLDERS = {
  '/package/': installed.slice(0, -'package.json'.length),
  '/vectors/': `${root}/tests/vectors/`,
  '/test/': new URL('.', import.meta.url).pathname,
  // The files of this folder contain the loops that Node runs too.
  '/loops/': `${root}/node/test/`,
};

async function answer(folders, request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const folder = Object.keys(folders).find((known) => pathname.startsWith(known));
  try {
    const content = await readFile(folders[folder] + pathname.slice(folder.length));
    response.writeHead(200, { 'content-type': TYPES[extname(pathname)] }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

// Starts a server that runs until the test ends, and returns its address. `folders` contains the folder
// of each prefix of a path.
export async function servePages(t, folders = FOLDERS) {
  const server = createServer((request, response) => answer(folders, request, response));
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

// Starts a browser that runs until the test ends.
export async function openBrowser(t) {
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    headless: true,
    args: FLAGS,
  });
  t.after(() => browser.close());
  return browser;
}

// Waits until a page has set `window.result`, and returns it.
export async function resultOf(page, complaints, timeout) {
  await page
    .waitForFunction('window.result !== undefined', undefined, { timeout })
    .catch((error) => {
      throw new Error(`no result: ${error.message} ${complaints.join('\n')}`);
    });
  const result = await page.evaluate('window.result');
  const failed = [result].flat().find(({ error }) => error !== undefined);
  if (failed !== undefined) throw new Error(failed.error);
  return result;
}
