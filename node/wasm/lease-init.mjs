// In Node, the module is already loaded, and must not be loaded twice.

import flakeid from './lease.js';

export async function init() {
  return flakeid;
}
