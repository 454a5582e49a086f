// The entry for runtimes that need the location of the module, or cannot await at the top level.

import { defineApi } from './api.js';
import { defineBackend } from './backend.js';
import { fetched } from './fetched.js';
import start, * as glue from './flakeid.js';

let ready;

// Starts the module. `source` is a URL, a Response, bytes, or a WebAssembly.Module (default: the
// file next to this one). Later calls return the result of the first call, because two instances
// would repeat the IDs of a node.
export function init(source) {
  ready ??= load(source).catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

async function load(source) {
  const module_or_path =
    source ?? (await fetched(new URL('../lib/flakeid_bg.wasm', import.meta.url)));
  await start({ module_or_path });
  return defineApi(defineBackend(glue));
}
