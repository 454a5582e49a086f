import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export { failure, fieldOf, number, optional, rows } from './rows.mjs';

// The root of the checkout, because the tests may have been copied elsewhere.
const root = process.env.FLAKEID_ROOT ?? new URL('../..', import.meta.url).pathname;

export function read(path) {
  return readFileSync(`${root}/${path}`, 'utf8');
}

export function load(name) {
  return JSON.parse(read(`tests/vectors/${name}.json`));
}

export function withCode(code) {
  return (error) => {
    assert.equal(error.code, code, error.stack);
    return true;
  };
}
