import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from './subject.mjs';
import { failure, load, number, rows } from './vectors.mjs';

const file = load('text');

test('text forms match the vectors', () => {
  for (const group of rows(file, 'forms')) {
    const name = group.form.replace(/(?:^|_)[a-z]/g, (start) => start.at(-1).toUpperCase());
    const [to, from] = [flakeid[`to${name}`], flakeid[`from${name}`]];
    for (const row of rows(group, 'valid')) {
      assert.equal(to(number(row, 'id')), row.text);
      assert.equal(to(row.id), row.text);
      assert.equal(from(row.text), number(row, 'id'));
    }
    for (const row of group.accepted) assert.equal(from(row.text), number(row, 'id'), row.text);
    for (const row of rows(group, 'rejected')) {
      assert.equal(failure(() => from(row.text), JSON.stringify(row)).code, row.code, row.why);
    }
  }
});

test('UUIDs match the vectors', () => {
  const uuids = load('uuid');
  let previous = '';
  for (const row of rows(uuids, 'valid')) {
    assert.equal(flakeid.toUuid(number(row, 'id')), row.text);
    assert.equal(flakeid.fromUuid(row.text), number(row, 'id'));
    assert.ok(previous < row.text, row.text);
    previous = row.text;
  }
  for (const row of rows(uuids, 'accepted')) {
    assert.equal(flakeid.fromUuid(row.text), number(row, 'id'), row.text);
  }
  for (const row of rows(uuids, 'rejected')) {
    const code = failure(() => flakeid.fromUuid(row.text), JSON.stringify(row)).code;
    assert.equal(code, row.code, row.why);
  }
});

test('IDs are strings in JSON', () => {
  const row = { id: 910499571847892992n, name: '1' };
  const text = JSON.stringify(row, flakeid.jsonReplacer);
  assert.equal(text, '{"id":"910499571847892992","name":"1"}');
  assert.deepEqual(JSON.parse(text, flakeid.jsonReviver('id')), row);
  assert.throws(() => JSON.parse('{"id":"-1"}', flakeid.jsonReviver('id')), {
    code: 'FLAKEID_INVALID_ID',
  });
  assert.throws(() => JSON.parse('{"id":910499571847892992}', flakeid.jsonReviver('id')), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
});
