'use strict';

// Claims fixed nodes among the pages and workers of an origin with Web Locks. The browser releases the locks of a page
// or a worker when it ends.

const FOR_EVER = new Promise(() => {
  // A lock is held until its promise settles.
});

// Returns the function `claim` of a host (wasm.js). Only secure contexts have locks.
function defineClaim(locks = globalThis.navigator?.locks) {
  const claims = new Map();

  function ask(name) {
    return new Promise((resolve) => {
      const hold = (lock) => {
        // Later generators on the node ask again, because the other page may have ended.
        if (lock === null) claims.delete(name);
        else claims.set(name, true);
        resolve(lock !== null);
        return lock === null ? undefined : FOR_EVER;
      };
      locks.request(name, { ifAvailable: true }, hold).catch(() => {
        // Some pages may not use locks.
        claims.delete(name);
        resolve(undefined);
      });
    });
  }

  return function claim(name) {
    if (locks === undefined) return undefined;
    if (!claims.has(name)) claims.set(name, ask(name));
    return claims.get(name);
  };
}

module.exports = { defineClaim };
