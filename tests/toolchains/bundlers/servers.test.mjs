// Bundles servers with real bundlers, and runs the bundles. The add-on stays in its package, which the
// bundle finds when it runs.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import esbuild from 'esbuild';
import { rollup } from 'rollup';
import { build } from 'vite';
import webpack from 'webpack';

const temporary = mkdtempSync(join(tmpdir(), 'flakeid-bundles-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

// Returns an empty folder outside the project with the packages.
function temporaryFolder() {
  return mkdtempSync(join(temporary, 'folder-'));
}

function run(bundle, cwd = '.') {
  const store = `sqlite://${temporaryFolder()}/flakeid.db`;
  return spawnSync(process.execPath, [resolve(bundle), store], { cwd, encoding: 'utf8' });
}

function check(bundle) {
  for (const cwd of ['.', tmpdir()]) {
    const { status, stdout, stderr } = run(bundle, cwd);
    assert.equal(status, 0, stderr);
    assert.equal(new Set(JSON.parse(stdout).ids).size, 1000);
  }
}

const esbuildTo = (outfile, format, more = {}) =>
  esbuild.build({
    entryPoints: [format === 'esm' ? 'src/server.js' : 'src/required.cjs'],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format,
    ...more,
  });

test('a server bundled by esbuild issues IDs', async () => {
  const { warnings } = await esbuildTo('dist/server/esbuild.cjs', 'cjs');
  assert.deepEqual(warnings, []);
  check('dist/server/esbuild.cjs');
});

test('an ES module bundled by esbuild issues IDs', async () => {
  await esbuildTo('dist/server/esbuild.mjs', 'esm');
  check('dist/server/esbuild.mjs');
});

test('a server bundled by esbuild without its packages issues IDs', async () => {
  await esbuildTo('dist/server/external.mjs', 'esm', { packages: 'external' });
  check('dist/server/external.mjs');
});

test('a server bundled by Rollup issues IDs', async () => {
  const bundle = await rollup({
    input: 'src/server.js',
    external: /^node:/,
    plugins: [nodeResolve({ exportConditions: ['node'] }), commonjs()],
  });
  await bundle.write({ file: 'dist/server/rollup.mjs', format: 'es' });
  check('dist/server/rollup.mjs');
});

test('a server bundled by Vite issues IDs', async () => {
  await build({
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: { ssr: 'src/server.js', outDir: 'dist/vite-server', minify: true },
  });
  check('dist/vite-server/server.js');
});

test('a server bundled by webpack issues IDs', async () => {
  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    entry: './src/required.cjs',
    output: { path: resolve('dist/server'), filename: 'webpack.cjs' },
  });
  const stats = await new Promise((done, failed) => {
    compiler.run((error, result) => (error ? failed(error) : done(result)));
  });
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  assert.deepEqual([...errors, ...warnings], []);
  check('dist/server/webpack.cjs');
});

// pnpm and other package managers link only direct dependencies into the folder of the project.
test('a bundle finds the add-on of a package that is not linked into the project', async () => {
  const project = temporaryFolder();
  cpSync('node_modules/flakeid-core', join(project, 'node_modules/flakeid-core'), {
    recursive: true,
  });
  const nested = join(project, 'node_modules/flakeid-core/node_modules');
  for (const name of readdirSync('node_modules').filter((each) =>
    each.startsWith('flakeid-core-'),
  )) {
    cpSync(join('node_modules', name), join(nested, name), { recursive: true });
  }
  for (const format of ['cjs', 'esm']) {
    const extension = format === 'esm' ? 'mjs' : 'cjs';
    await esbuildTo(join(project, `server.${extension}`), format);
    const { status, stderr } = run(join(project, `server.${extension}`), tmpdir());
    assert.equal(status, 0, stderr);
  }
});

test('a bundle without the add-on fails with an error that names bundling', async () => {
  const folder = temporaryFolder();
  for (const [format, extension] of [
    ['cjs', 'cjs'],
    ['esm', 'mjs'],
  ]) {
    await esbuildTo(join(folder, `server.${extension}`), format);
    const { status, stderr } = run(join(folder, `server.${extension}`), folder);
    assert.equal(status, 1);
    assert.match(stderr, /A bundle does not contain the add-on: .* `serverExternalPackages`/);
  }
});
