// The entry for browsers, and for runtimes that need the address of the module.

import { defineApi } from './api.js';
import start, * as core from './flakeid.js';
import { defineClaim } from './locks.js';
import { defineBackend } from './wasm.js';

// Calls `load` once, and again after a failure.
function once(load) {
  let loaded;
  return (...values) => {
    loaded ??= load(...values).catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

// Fetches a file of the package, which bundlers copy next to their output.
async function fetched(url) {
  const response = await fetch(url);
  const type = response.headers.get('content-type') ?? 'unknown';
  // Some servers return a page instead of a missing file.
  if (response.ok && !type.startsWith('text/html')) return response;
  throw new Error(
    `flakeid-core cannot load ${url}: the server responded with the status ${response.status} and the `
      + `type ${type}; let the bundler copy this file of the package, or pass its address to init`,
  );
}

async function load(source, leases) {
  const module_or_path = source ?? (await fetched(new URL('./flakeid.wasm', import.meta.url)));
  await start({ module_or_path });
  const loadLeases = once(async () => {
    const loaded = await import('./flakeid_lease.js');
    const file = leases ?? (await fetched(new URL('./flakeid_lease.wasm', import.meta.url)));
    await loaded.default({ module_or_path: file });
    return loaded;
  });
  return { core, host: { loadLeases, isInRequests: false, claim: defineClaim() } };
}

// Starts the module. `source` is a URL, a Response, bytes, or a WebAssembly.Module (default: the file next
// to this one), and so is `leases`, the module that the first lease starts. Later calls return the result of
// the first call. Several copies of the package in a page share one instance, because two instances cannot use
// one node.
export const init = once(async (...sources) => {
  globalThis[core.INSTANCE] ??= once(load);
  const instance = await globalThis[core.INSTANCE](...sources);
  return defineApi(defineBackend(instance.core, instance.host));
});
