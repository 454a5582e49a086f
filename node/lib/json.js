'use strict';

function defineJson(checks) {
  // Writes IDs as strings, because JSON has no bigints and its numbers lose digits.
  function jsonReplacer(_key, value) {
    return typeof value === 'bigint' ? value.toString() : value;
  }

  // Reads IDs only under the given keys, because other strings of digits look like IDs. Numbers
  // under these keys are rejected, because they have already lost their last digits.
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
