// The entry with leases, which uses a separate, larger module than init.js.

import { defineApi } from './api.js';
import { fetched } from './fetched.js';
import start, * as glue from './flakeid_lease.js';
import { defineLease } from './lease.js';
import { defineLeasing } from './leasing.js';

let ready;

// Starts the module like init.js.
export function init(source) {
  ready ??= load(source).catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

async function load(source) {
  const module_or_path =
    source ?? (await fetched(new URL('../lib/flakeid_lease_bg.wasm', import.meta.url)));
  await start({ module_or_path });
  return defineApi(defineLeasing(glue), (inside) => {
    defineLease(inside);
    return {};
  });
}
