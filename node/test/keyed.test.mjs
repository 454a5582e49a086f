import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from './subject.mjs';
import { failure, load, number, rows } from './vectors.mjs';

const { Generator, PublicIds } = flakeid;
const file = load('keyed');
const KEYRING = 'a 000102030405060708090a0b0c0d0e0f';

function publicIds(row, options = {}) {
  const { keyring, domain, layout, prefix } = row;
  return new PublicIds(keyring, domain, { layout, prefix: prefix ?? undefined, ...options });
}

test('public IDs match the vectors', () => {
  for (const row of rows(file, 'public_ids')) {
    const ids = publicIds(row);
    assert.equal(ids.seal(number(row, 'id')), row.text);
    assert.equal(ids.seal(row.id), row.text);
    assert.equal(ids.sealBits(row.id), number(row, 'bits'));
    assert.equal(ids.open(row.text, { now: 2n ** 62n }), number(row, 'id'));
  }
});

test('open accepts and rejects the strings of the vectors', () => {
  const open = (row) => {
    const since = row.since_ms === null ? undefined : number(row, 'since_ms');
    return publicIds(file.one_domain, { since }).open(row.text, { now: number(row, 'now_ms') });
  };
  for (const row of rows(file, 'opened')) assert.equal(open(row), number(row, 'id'));
  for (const row of rows(file, 'rejected')) {
    const error = failure(() => open(row), JSON.stringify(row));
    assert.equal(error.code, row.code, row.why);
    assert.match(error.message, /is not a public ID of this domain/);
  }
});

test('PublicIds rejects invalid options', () => {
  for (const row of rows(file, 'invalid')) {
    const error = failure(() => publicIds(row), JSON.stringify(row));
    assert.equal(error.code, row.code, row.why);
    assert.ok(error.message.includes(row.option), error.message);
  }
});

test('PublicIds uses the clock and checks types', () => {
  const ids = new PublicIds(KEYRING, 'user', { since: new Date('2026-01-01') });
  const id = new Generator({ node: 991 }).nextId();
  assert.equal(ids.open(ids.seal(id)), id);
  const code = 'FLAKEID_INVALID_ID';
  assert.throws(() => ids.open(ids.seal(910499571847892992n)), { code });
  assert.throws(() => ids.open(ids.seal(flakeid.lowerBound(new Date('2090-01-01')))), { code });
  assert.throws(() => ids.seal(2n ** 63n), { code });
  assert.equal(`${ids.layout}`, `${flakeid.Layout.parse('twitter')}`);
  const type = { code: 'ERR_INVALID_ARG_TYPE' };
  assert.throws(() => new PublicIds(Buffer.from(KEYRING), 'user'), type);
  assert.throws(() => new PublicIds(KEYRING, 'user', 'usr'), type);
  assert.throws(() => ids.open(7), type);
  assert.throws(() => ids.seal(7), type);
});
