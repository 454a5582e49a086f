'use strict';

function defineJson(checks) {
  // JSON has no bigints, and its numbers lose digits: IDs are strings there.
  function jsonReplacer(_key, value) {
    return typeof value === 'bigint' ? value.toString() : value;
  }

  // The other way only for the keys that are named: nothing else tells an ID from other digits. A
  // number there has lost its last digits already.
  function jsonReviver(...keys) {
    for (const key of keys) checks.text(key, 'key');
    return (key, value) =>
      keys.includes(key) && ['string', 'number'].includes(typeof value)
        ? checks.id(value, key)
        : value;
  }

  return { jsonReplacer, jsonReviver };
}

module.exports = { defineJson };
