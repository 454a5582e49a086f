// node build.mjs MODULE.wasm OUT.html: builds one file with the page, its script, its module and
// its style.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

import { build, transform } from 'esbuild';

// The largest size of the page in bytes, compressed as servers compress it.
const MOST = 100_000;

const [modulePath, out] = process.argv.slice(2);

async function bundle(entry) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    // import.meta occurs only in the glue's own way to load a module, which is not used.
    logOverride: { 'empty-import-meta': 'silent' },
    write: false,
  });
  const text = result.outputFiles[0].text.trim();
  // These strings would end the element that contains the script.
  if (/<\/script|<!--/i.test(text)) throw new Error(`${entry} contains the text of a tag`);
  return text;
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const module = gzipSync(await readFile(modulePath), { level: 9 }).toString('base64');
const style = (
  await transform(await readFile('style.css', 'utf8'), { loader: 'css', minify: true })
).code.trim();
const script = await bundle('main.js');
const worker = await bundle('worker.js');

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  'img-src data:',
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = { policy, style, script, worker, module };
const template = await readFile('index.html', 'utf8');
const page = template.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
await writeFile(out, page);
const size = gzipSync(page, { level: 9 }).length;
console.log(`the page: ${page.length} bytes, ${size} gzipped`);
if (size > MOST)
  throw new Error(`the page has ${size} bytes gzipped, but at most ${MOST} are allowed`);
