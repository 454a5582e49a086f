'use strict';

const { IdText } = require('./shared.js');

// Returns both functions for JSON. They identify IDs by the names of keys, because other strings of
// digits look like IDs.
function jsonIds(texts) {
  const known = new Map(Object.entries(texts));
  const each = (value, call) => (Array.isArray(value) ? value.map(call) : call(value));

  function replacer(key, value) {
    const text = known.get(key);
    return each(value, (id) => {
      if (typeof id !== 'bigint') return id;
      return text === undefined ? `${id}` : text.write(id);
    });
  }

  function reviver(key, value) {
    const text = known.get(key);
    if (text === undefined) return value;
    return each(value, (id) => (id === null ? null : text.read(id)));
  }

  return { replacer, reviver };
}

module.exports = { IdText, jsonIds };
