// Builds pages with real bundlers, minified, and runs them in a real browser, where they lease nodes from
// a real broker.

import assert from 'node:assert/strict';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { importMetaAssets } from '@web/rollup-plugin-import-meta-assets';
import esbuild from 'esbuild';
import { rollup } from 'rollup';
import { build, createServer } from 'vite';
import webpack from 'webpack';

import { Broker, TOKEN } from './harness/broker.mjs';
import { openBrowser, resultOf, servePages } from './harness/browser/harness.mjs';

const TIMEOUT = 20_000;
// The compressed sizes of the scripts and of the WebAssembly that each page loads.
const sizes = {};
const PAGES = ['fixed', 'leased', 'both'];

// Writes pages for bundlers that build only scripts.
async function writePages(folder, pages) {
  await mkdir(folder, { recursive: true });
  for (const page of pages) {
    const script = `<script type="module" src="${page}.js"></script>`;
    const head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">';
    await writeFile(`${folder}/${page}.html`, head + script);
  }
}

// Opens built pages, and checks that their IDs are unique.
async function check(t, folder, pages) {
  const origin = await servePages(t, { '/': `${resolve(folder)}/` });
  const broker = await Broker.start(t, '--allow-origin', origin);
  const browser = await openBrowser(t);
  for (const name of pages) {
    sizes[`${folder} ${name}`] = await checkPage(browser, broker, `${origin}/${name}.html`);
  }
}

async function checkPage(browser, broker, address) {
  const page = await browser.newPage();
  const complaints = [];
  const responses = [];
  page.on('response', (response) => responses.push(response));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${address}?${new URLSearchParams({ url: broker.url, token: TOKEN })}`);
  const { ids, nodes, claims } = await resultOf(page, complaints, TIMEOUT);
  if (claims === undefined) {
    assert.equal(new Set(ids).size, 1000);
    assert.equal(nodes.length, 1);
  } else {
    const [refused, made] = claims.sort((one, other) => one.length - other.length);
    assert.deepEqual(refused, ['FLAKEID_NODE_IN_USE']);
    assert.equal(new Set(made).size, 1000);
  }
  const sizeOf = async (extension) => {
    const files = responses.filter((response) => response.url().split('?')[0].endsWith(extension));
    const bodies = await Promise.all(files.map((response) => response.body()));
    return bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
  };
  const compressed = [await sizeOf('.js'), await sizeOf('.wasm')];
  await page.close();
  return compressed;
}

before(() => mkdir('dist', { recursive: true }));

test('pages built by Vite lease nodes', async (t) => {
  await build({
    logLevel: 'warn',
    base: './',
    worker: { format: 'es' },
    build: { outDir: 'dist/vite', rollupOptions: { input: PAGES.map((page) => `${page}.html`) } },
  });
  await check(t, 'dist/vite', PAGES);
});

test('pages of the development server of Vite lease nodes', async (t) => {
  const server = await createServer({
    logLevel: 'warn',
    server: { port: 0, host: '127.0.0.1' },
    optimizeDeps: { exclude: ['flakeid-core'] },
  });
  t.after(() => server.close());
  await server.listen();
  const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
  const broker = await Broker.start(t, '--allow-origin', origin);
  const browser = await openBrowser(t);
  for (const name of PAGES) await checkPage(browser, broker, `${origin}/${name}.html`);
});

test('pages built by webpack lease nodes', async (t) => {
  await writePages('dist/webpack', PAGES);
  const compiler = webpack({
    mode: 'production',
    entry: Object.fromEntries(PAGES.map((page) => [page, `./src/${page}.js`])),
    output: { path: resolve('dist/webpack') },
  });
  const stats = await new Promise((done, failed) => {
    compiler.run((error, result) => (error ? failed(error) : done(result)));
  });
  assert.deepEqual(stats.toJson({ all: false, errors: true, warnings: true }).errors, []);
  await check(t, 'dist/webpack', PAGES);
});

test('pages built by Rollup lease nodes', async (t) => {
  await writePages('dist/rollup', PAGES);
  const bundle = await rollup({
    input: PAGES.map((page) => `src/${page}.js`),
    plugins: [
      nodeResolve({ browser: true }),
      commonjs(),
      importMetaAssets({ exclude: '**/both.js' }),
    ],
  });
  await bundle.write({ dir: 'dist/rollup', format: 'es', plugins: [terser()] });
  await bundle.close();
  await check(t, 'dist/rollup', PAGES);
});

const esbuildTo = (outdir, pages, more = {}) =>
  esbuild.build({
    entryPoints: pages.map((page) => `src/${page}.js`),
    outdir,
    bundle: true,
    minify: true,
    format: 'esm',
    ...more,
  });

test('pages built by esbuild lease nodes', async (t) => {
  await writePages('dist/esbuild', ['started']);
  await esbuildTo('dist/esbuild', ['started'], { loader: { '.wasm': 'file' } });
  await check(t, 'dist/esbuild', ['started']);
});

test('pages built by esbuild find copies of the WebAssembly files', async (t) => {
  await writePages('dist/copied', PAGES);
  await esbuildTo('dist/copied', PAGES);
  for (const file of ['flakeid.wasm', 'flakeid_lease.wasm']) {
    await copyFile(`node_modules/flakeid-core/wasm/${file}`, `dist/copied/${file}`);
  }
  await check(t, 'dist/copied', PAGES);
});

test('a page without its WebAssembly file fails with an error that names the remedy', async (t) => {
  await writePages('dist/missing', ['leased']);
  await esbuildTo('dist/missing', ['leased']);
  const origin = await servePages(t, { '/': `${resolve('dist/missing')}/` });
  const browser = await openBrowser(t);
  const page = await browser.newPage();
  const failure = page.waitForEvent('pageerror', { timeout: TIMEOUT });
  await page.goto(`${origin}/leased.html`);
  const { message } = await failure;
  assert.match(message, /flakeid\.wasm.* 404.*pass .* to init/);
});

test('a page on a fixed node downloads at most 60 KB, compressed', (t) => {
  for (const [page, [script, module]] of Object.entries(sizes)) {
    t.diagnostic(`${page}: ${script} bytes of JavaScript, ${module} bytes of WebAssembly`);
    if (page.endsWith('fixed')) assert.ok(module <= 41_000 && script + module <= 60_000);
  }
  assert.equal(Object.keys(sizes).filter((page) => page.endsWith('fixed')).length, 4);
});
