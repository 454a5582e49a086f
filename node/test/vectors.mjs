import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

// The checkout; the tests may have been copied elsewhere.
const root = process.env.FLAKEID_ROOT ?? new URL('../..', import.meta.url).pathname;

export function read(path) {
  return readFileSync(`${root}/${path}`, 'utf8');
}

export function load(name) {
  return JSON.parse(read(`tests/vectors/${name}.json`));
}

// A loop over nothing proves nothing.
export function rows(value, key) {
  assert.ok(Array.isArray(value[key]) && value[key].length > 0, `${key} is empty`);
  return value[key];
}

// Numbers are strings of digits in the vectors.
export function optional(row, key) {
  return row[key] === undefined || row[key] === null ? undefined : BigInt(row[key]);
}

export function number(row, key) {
  assert.equal(typeof row[key], 'string', `${key} in ${JSON.stringify(row)}`);
  return BigInt(row[key]);
}

// The error of a call that must fail.
export function failure(call, place) {
  try {
    call();
  } catch (error) {
    return error;
  }
  assert.fail(`${place}: no error`);
}

export function withCode(code) {
  return (error) => {
    assert.equal(error.code, code, error.stack);
    return true;
  };
}
