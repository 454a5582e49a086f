// The entry for edge runtimes, which compile WebAssembly files that a program imports. Neither this file nor a
// file that it imports sets a timer or generates random numbers before the first request.

import { defineApi } from './api.js';
import * as core from './flakeid.js';
import module from './flakeid.wasm';
import { defineBackend } from './wasm.js';

async function loadLeases() {
  const leases = await import('./flakeid_lease.js');
  const { default: compiled } = await import('./flakeid_lease.wasm');
  leases.initSync({ module: compiled });
  return leases;
}

core.initSync({ module });

// An isolate cannot see the others.
export default defineApi(defineBackend(core, { loadLeases, isInRequests: true }));
