// Opens the page in a browser, with its own server, and records everything that the page must not
// do.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after } from 'node:test';

import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.FLAKEID_CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
];

export const WIDE = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740 };

const html = await readFile(process.env.FLAKEID_PAGE);
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const browsers = new Map();
const server = createServer((request, response) => {
  const isPage = request.url === '/';
  response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
  response.end(isPage ? html : undefined);
});

after(async () => {
  server.close();
  for (const browser of browsers.values()) await (await browser).close();
});

// Returns the address of a server of the page. All tests of a file share it.
async function serve() {
  if (!server.listening) {
    await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  }
  return `http://127.0.0.1:${server.address().port}`;
}

// Opens a browser. All tests of a file that pass the same flags share it, because its start takes
// seconds. Each tab has its own profile.
export async function openBrowser(flags = []) {
  const key = flags.join(' ');
  if (!browsers.has(key)) {
    const args = [...FLAGS, ...flags];
    browsers.set(key, chromium.launch({ executablePath: EXECUTABLE, headless: true, args }));
  }
  return { browser: await browsers.get(key), address: await serve() };
}

// Opens a tab at `hash`. The test fails at its end after any request except for the page itself,
// and after any console message that does not match `expected`.
export async function openPage(
  t,
  { browser, address },
  { hash = '', scheme = 'light', size = WIDE, path = '/', expected } = {},
) {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: size,
    hasTouch: size === PHONE,
  });
  // Other addresses are not secure and have no readable clipboard.
  if (address.startsWith('http://127.'))
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const faults = [];
  page.on('console', (entry) => {
    if (!expected?.test(entry.text())) faults.push(`console: ${entry.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (url.split('#')[0] !== address + path && !/^(blob|data):/.test(url))
      faults.push(`request: ${url}`);
  });
  await page.goto(`${address}${path}${hash}`);
  await page.getByRole('tab').first().waitFor();
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  return page;
}

export const panel = (page, name) => page.getByRole('tab', { name }).click();

// Returns the violations that axe-core finds. Its script is added in spite of the page's policy.
export async function violations(page) {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate('axe.run()');
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

// Whether the page is wider than the screen.
export const isTooWide = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

// Takes a screenshot of the whole page, if the environment names a folder.
export async function screenshot(page, name) {
  if (process.env.FLAKEID_SCREENSHOTS === undefined) return;
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({
    path: `${process.env.FLAKEID_SCREENSHOTS}/${name}.png`,
    animations: 'disabled',
    fullPage: true,
  });
}
