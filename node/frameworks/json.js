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

// The colon distinguishes a number from a key, which must not become valid.
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*:)?/g;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;
// Distinguishes the digits of integers from strings of the document, which cannot contain this secret. Some runtimes
// generate no random numbers before the first request.
let mark;

// Parses JSON. Integers that a number cannot hold exactly become bigints; they have at least 16 digits.
function parseJson(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  mark ??= crypto.randomUUID();
  const isLarge = (token) => LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token));
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    isLarge(token) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

module.exports = { IdText, jsonIds, parseJson };
