'use strict';

const { wrongType } = require('./error.js');

const LEAST_I64 = -(2n ** 63n);
const MOST_I64 = 2n ** 63n - 1n;
const MOST_LENGTH = 2 ** 32 - 1;

// Checks the types of arguments. The core checks ranges; values that a u64 cannot hold are passed as strings.
function defineArguments(backend) {
  // Rejects numbers as IDs even if they are exact, because other IDs would not be exact.
  function id(value, name = 'id') {
    if (typeof value === 'bigint') {
      if (BigInt.asUintN(64, value) === value) return value;
      return backend.decodeText('decimal', value.toString());
    }
    if (typeof value === 'string') return backend.decodeText('decimal', value);
    throw wrongType(name, 'a bigint or a string of decimal digits', value);
  }

  function whole(value, name) {
    if (typeof value === 'bigint') return value;
    if (Number.isSafeInteger(value)) return BigInt(value);
    throw wrongType(name, 'a bigint or a whole number of at most 53 bits', value);
  }

  // Returns an instant. Instants that 64 bits cannot hold become the nearest one that they can.
  function instant(value, name) {
    let unixMs;
    if (value instanceof Date && !Number.isNaN(value.getTime())) {
      unixMs = BigInt(value.getTime());
    } else if (typeof value === 'bigint' || Number.isSafeInteger(value)) {
      unixMs = BigInt(value);
    } else {
      throw wrongType(
        name,
        'a valid Date, or Unix milliseconds as a whole number or bigint',
        value,
      );
    }
    if (unixMs < LEAST_I64) return LEAST_I64;
    return unixMs > MOST_I64 ? MOST_I64 : unixMs;
  }

  function text(value, name) {
    if (typeof value === 'string') return value;
    throw wrongType(name, 'a string', value);
  }

  function length(value, name) {
    const n = whole(value, name);
    if (n < 0n || n > BigInt(MOST_LENGTH)) backend.outOfRange(name, `${n}`, BigInt(MOST_LENGTH));
    return Number(n);
  }

  // Returns a value as a number if that is exact; otherwise throws, instead of rounding.
  function exact(value, field) {
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
      backend.outOfRange(field, `${value}`, BigInt(Number.MAX_SAFE_INTEGER));
    }
    return Number(value);
  }

  function numbers(value, name) {
    const wide = value instanceof BigUint64Array || value instanceof BigInt64Array;
    // Objects that only look like typed arrays are rejected, too.
    if (wide && ArrayBuffer.isView(value)) return value;
    throw wrongType(name, 'a BigUint64Array or a BigInt64Array', value);
  }

  function record(value, name) {
    if (typeof value === 'object' && value !== null) return value;
    throw wrongType(name, 'an object', value);
  }

  return { id, whole, instant, text, length, exact, numbers, record };
}

module.exports = { defineArguments };
