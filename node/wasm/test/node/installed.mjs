// Access to the internals of the installed package, and further instances of it.

import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('flakeid-wasm/package.json'));

// The functions of the shared instance's module.
export const glue = require(`${folder}/lib/flakeid.js`);

// Returns another instance, as a second copy of the package would create it.
export function anotherInstance() {
  const known = Object.entries(require.cache).filter(([path]) => path.startsWith(folder + sep));
  for (const [path] of known) delete require.cache[path];
  const instance = { flakeid: require('flakeid-wasm'), glue: require(`${folder}/lib/flakeid.js`) };
  Object.assign(require.cache, Object.fromEntries(known));
  return instance;
}
