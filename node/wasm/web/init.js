// For runtimes that want to be told where the module is, or that cannot await at the top level.

import { defineApi } from './api.js';
import { defineBackend } from './backend.js';
import start, * as glue from './flakeid.js';

let ready;

// `source` is anything that WebAssembly can be had from: a URL, a Response, bytes, or a
// WebAssembly.Module; without one it is fetched from beside this file. The second call returns
// what the first did: one instance, or a node used through both would repeat its IDs.
export function init(source) {
  ready ??= load(source).catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

async function load(source) {
  await start({ module_or_path: source ?? new URL('../lib/flakeid_bg.wasm', import.meta.url) });
  return defineApi(defineBackend(glue));
}
