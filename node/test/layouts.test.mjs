import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from './subject.mjs';
import { failure, fieldOf, load, number, optional, rows } from './vectors.mjs';

const {
  Generator,
  Layout,
  ManualClock,
  decode,
  fromBytes,
  fromHex,
  lowerBound,
  toBytes,
  toHex,
  upperBound,
} = flakeid;
const file = load('layouts');

function generates(layout) {
  try {
    new Generator({ layout, node: 0, clock: new ManualClock(layout.epoch) });
    return true;
  } catch {
    return false;
  }
}

test('presets match the vectors', () => {
  const presets = rows(file, 'presets');
  assert.deepEqual(
    Layout.presets(),
    presets.map((row) => row.name),
  );
  for (const row of presets) {
    const layout = Layout.parse(row.name);
    assert.equal(layout.toString(), row.descriptor);
    assert.equal(layout.descriptor, row.descriptor);
    assert.equal(layout.presetName, row.name);
    assert.equal(layout.width, row.width);
    assert.equal(layout.maxTick, number(row, 'max_tick'));
    assert.equal(layout.maxNode, number(row, 'max_node'));
    assert.equal(layout.maxSequence, number(row, 'max_sequence'));
    assert.equal(layout.idsPerTick, number(row, 'ids_per_tick'));
    assert.equal(layout.horizon, number(row, 'horizon_unix_ms'));
    assert.equal(layout.fitsI64Until, number(row, 'fits_i64_until_unix_ms'));
    assert.equal(layout.isSplit, row.split);
    assert.equal(layout.canGenerate, row.generates);
    assert.equal(layout.fitsF64, row.width <= 53);
    assert.ok(layout.equals(new Layout(row.descriptor)));
  }
});

test('descriptors match the vectors', () => {
  for (const row of rows(file.descriptors, 'valid')) {
    const layout = Layout.parse(row.text);
    assert.equal(`${layout}`, row.canonical);
    assert.equal(layout.canGenerate, row.generates, row.text);
    assert.equal(generates(layout), row.generates, row.text);
  }
  for (const row of rows(file.descriptors, 'invalid')) {
    const error = failure(() => Layout.parse(row.text), JSON.stringify(row));
    assert.equal(error.code, 'FLAKEID_INVALID_LAYOUT', row.text);
  }
});

test('IDs match the vectors', () => {
  for (const row of rows(file, 'ids')) {
    const layout = Layout.parse(row.layout);
    const id = number(row, 'id');
    const parts = {
      tick: number(row, 'tick'),
      unixMs: number(row, 'unix_ms'),
      node: number(row, 'node'),
      datacenter: optional(row, 'datacenter'),
      worker: optional(row, 'worker'),
      clockSequence: number(row, 'clock_sequence'),
      sequence: number(row, 'sequence'),
    };
    assert.deepEqual({ ...layout.unpack(id) }, parts, row.id);
    assert.deepEqual({ ...layout.unpack(row.id) }, parts, row.id);
    assert.equal(layout.pack(parts), id, row.id);
    const { tick, node, ...rest } = parts;
    assert.equal(
      layout.pack({ tick, node, clockSequence: rest.clockSequence, sequence: rest.sequence }),
      id,
    );
    if (parts.datacenter !== undefined) assert.equal(layout.pack({ tick, ...rest }), id, row.id);
    assert.equal(toHex(id), row.bytes);
    assert.equal(fromHex(row.bytes), id);
    assert.equal(fromBytes(toBytes(id)), id);
    assert.deepEqual(
      [...toBytes(id)],
      row.bytes.match(/../g).map((byte) => Number.parseInt(byte, 16)),
    );
    checkDecoded(row, parts);
  }
});

function checkDecoded(row, parts) {
  const { tick, ...others } = parts;
  const fields = Object.entries(others);
  if (fields.some(([, value]) => value > BigInt(Number.MAX_SAFE_INTEGER))) {
    const error = failure(() => decode(row.id, row.layout), row.id);
    assert.equal(error.code, 'FLAKEID_FIELD_OUT_OF_RANGE');
    return;
  }
  const { timestamp, ...decoded } = decode(row.id, row.layout);
  const expected = fields.map(([name, value]) => [
    name,
    value === undefined ? undefined : Number(value),
  ]);
  assert.deepEqual(decoded, { tick, ...Object.fromEntries(expected) });
  assert.ok(Object.isFrozen(decode(row.id, row.layout)));
  if (row.timestamp !== null) {
    assert.equal(timestamp.getTime(), Date.parse(row.timestamp), row.id);
  }
}

test('layouts reject invalid parts and IDs', () => {
  for (const row of rows(file, 'rejected_parts')) {
    const parts = {
      tick: number(row, 'tick'),
      node: number(row, 'node'),
      clockSequence: number(row, 'clock_sequence'),
      sequence: number(row, 'sequence'),
    };
    const error = failure(() => Layout.parse(row.layout).pack(parts), JSON.stringify(row));
    assert.deepEqual([error.code, error.field], [row.code, fieldOf(row)]);
  }
  for (const row of rows(file, 'rejected_splits')) {
    const parts = {
      tick: 0n,
      datacenter: number(row, 'datacenter'),
      worker: number(row, 'worker'),
    };
    const error = failure(() => Layout.parse(row.layout).pack(parts), JSON.stringify(row));
    assert.deepEqual([error.code, error.field], [row.code, fieldOf(row)]);
  }
  for (const row of rows(file, 'rejected_ids')) {
    assert.equal(failure(() => Layout.parse(row.layout).unpack(row.id)).code, row.code);
    assert.equal(failure(() => decode(BigInt(row.id), row.layout)).code, row.code);
  }
});

test('bounds match the vectors', () => {
  for (const row of rows(file, 'bounds')) {
    const unixMs = number(row, 'unix_ms');
    assert.equal(lowerBound(unixMs, row.layout), number(row, 'lower'), JSON.stringify(row));
    assert.equal(upperBound(unixMs, row.layout), number(row, 'upper'), JSON.stringify(row));
    if (Number.isSafeInteger(Number(unixMs))) {
      assert.equal(lowerBound(Number(unixMs), Layout.parse(row.layout)), number(row, 'lower'));
    }
    const date = new Date(Number(unixMs));
    if (!Number.isNaN(date.getTime()))
      assert.equal(upperBound(date, row.layout), number(row, 'upper'));
  }
});
