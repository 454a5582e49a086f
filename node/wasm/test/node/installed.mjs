// The installed package from the inside, and further instances of it.

import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('flakeid-wasm/package.json'));

// The functions of the module of the shared instance.
export const glue = require(`${folder}/lib/flakeid.js`);

// Another instance, as a second copy of the package would be.
export function anotherInstance() {
  const known = Object.entries(require.cache).filter(([path]) => path.startsWith(folder + sep));
  for (const [path] of known) delete require.cache[path];
  const instance = { flakeid: require('flakeid-wasm'), glue: require(`${folder}/lib/flakeid.js`) };
  Object.assign(require.cache, Object.fromEntries(known));
  return instance;
}
