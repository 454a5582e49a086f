// Access to the internals of the installed package, and further instances of its module.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import worker_threads from 'node:worker_threads';

const require = createRequire(import.meta.url);
const file = require.resolve('flakeid-core/wasm');
const { version } = JSON.parse(readFileSync(require.resolve('flakeid-core/package.json'), 'utf8'));
const INSTANCE = Symbol.for(`flakeid ${version}`);

require(file);

// The functions of the shared instance.
export const { core: glue } = worker_threads[INSTANCE];

// Returns another copy of the package, as a test runner or a second folder would load it.
export function anotherCopy() {
  const known = require.cache[file];
  delete require.cache[file];
  const copy = require(file);
  require.cache[file] = known;
  return copy;
}

// Returns a copy with an instance of its own, as another version of the package would create it.
export function anotherInstance() {
  const shared = worker_threads[INSTANCE];
  delete worker_threads[INSTANCE];
  const instance = { flakeid: anotherCopy(), glue: worker_threads[INSTANCE].core };
  worker_threads[INSTANCE] = shared;
  return instance;
}
