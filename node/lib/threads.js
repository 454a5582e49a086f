'use strict';

// Claims the fixed nodes of a process for one of its instances of the WebAssembly module. Each thread of Node has an
// instance of its own. The main thread creates a table in shared memory, and the threads that it starts later receive
// the table. A thread without the table cannot see the other instances.
//
// A claim lasts until the process ends, because a thread that has ended may have used the latest ticks.

const { getEnvironmentData, isMainThread, setEnvironmentData } = require('node:worker_threads');

const TABLE = 'flakeid.claims';
// The first slot counts the instances. Each other slot is 0 or a claim: a name's hash and an instance's number.
const SLOTS = 2 ** 14;
const OWNER_BITS = 20n;
const HASH_BITS = 63n - OWNER_BITS;

// Returns the FNV-1a hash of a name. Two names with equal hashes are only refused together.
function hashOf(name) {
  let hash = 0xcbf29ce484222325n;
  for (const letter of name) {
    hash ^= BigInt(letter.charCodeAt(0));
    hash = BigInt.asUintN(64, hash * 0x100000001b3n);
  }
  return BigInt.asUintN(Number(HASH_BITS), hash);
}

function tableOfProcess() {
  const shared = getEnvironmentData(TABLE);
  if (shared !== undefined || !isMainThread) return shared;
  const table = new BigInt64Array(new SharedArrayBuffer(SLOTS * BigInt64Array.BYTES_PER_ELEMENT));
  setEnvironmentData(TABLE, table);
  return table;
}

// Returns the function `claim` of a host (wasm.js).
function defineClaim() {
  const table = tableOfProcess();
  if (table === undefined) return () => undefined;
  const owner = Atomics.add(table, 0, 1n) + 1n;
  if (owner >> OWNER_BITS !== 0n) return () => undefined;

  return function claim(name) {
    const hash = hashOf(name);
    const own = (hash << OWNER_BITS) | owner;
    const first = Number(hash % BigInt(SLOTS - 1));
    for (let step = 0; step < SLOTS - 1; step += 1) {
      const slot = 1 + ((first + step) % (SLOTS - 1));
      const found = Atomics.compareExchange(table, slot, 0n, own);
      if (found === 0n || found === own) return true;
      if (found >> OWNER_BITS === hash) return false;
    }
    return undefined;
  };
}

module.exports = { defineClaim };
