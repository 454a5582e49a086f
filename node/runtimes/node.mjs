// The entry for WebAssembly in Node.

import { readFileSync } from 'node:fs';
import worker_threads from 'node:worker_threads';

import { defineApi } from './api.js';
import * as core from './flakeid.js';
import * as leases from './flakeid_lease.js';
import { defineClaim } from './threads.js';
import { defineBackend } from './wasm.js';

const read = (name) => readFileSync(`${__dirname}/wasm/${name}.wasm`);

function start() {
  core.initSync({ module: read('flakeid') });
  async function loadLeases() {
    leases.initSync({ module: read('flakeid_lease') });
    return leases;
  }
  return { core, host: { loadLeases, isInRequests: false, claim: defineClaim() } };
}

// Several copies of the package in a thread share one instance, because two instances cannot use one node. Test
// runners evaluate this file again for each test file, but not the modules of Node.
worker_threads[core.INSTANCE] ??= start();
const instance = worker_threads[core.INSTANCE];

module.exports = defineApi(defineBackend(instance.core, instance.host));
