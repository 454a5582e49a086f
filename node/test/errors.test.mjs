import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from './subject.mjs';
import { failure, load, rows } from './vectors.mjs';

const { FlakeIdError, Generator, Layout, ManualClock, fromBase62 } = flakeid;
const table = rows(load('errors'), 'errors');

const clock = () => new ManualClock(1_505_914_988_849);

// One way to each error that this library can make without leases.
const ways = {
  InvalidLayout: () => Layout.parse('n10.t41.s12@0/1ms'),
  FieldOutOfRange: () => new Generator({ node: 1024 }),
  InvalidId: () => fromBase62('?'),
  InvalidOption: () => new Generator({ node: 1, overflow: 'borrow' }),
  ClockRollback: () => {
    const manual = clock();
    const generator = new Generator({ node: 1, rollback: 'error', clock: manual });
    generator.nextId();
    manual.set(0n + manual.unixMs - 5n);
    generator.nextId();
  },
  SequenceExhausted: () => {
    const generator = new Generator({ node: 1, sequenceMask: 0, overflow: 'error', clock: clock() });
    generator.nextId();
    generator.nextId();
  },
  HorizonReached: () => new Generator({ node: 1, layout: 'baidu' }),
  BeforeEpoch: () => new Generator({ node: 1, clock: new ManualClock(0) }).tryNextId(),
  Closed: () => {
    const generator = new Generator({ node: 1, clock: clock() });
    generator.retire();
    generator.nextId();
  },
  LeaseExpired: () => new Generator({ node: 1, clock: clock(), window: { start: 5, fence: 7 } }).nextId(),
};

// Needs what JavaScript has not: fork, the ring, leases.
const elsewhere = [
  'Forked',
  'RingEmpty',
  'NoFreeNode',
  'ClockSkew',
  'FenceInFuture',
  'StoreUnavailable',
  'StoreRejected',
];

test('the error table', () => {
  assert.deepEqual([...Object.keys(ways), ...elsewhere].sort(), table.map((row) => row.kind).sort());
  for (const row of table.filter(({ kind }) => kind in ways)) {
    const error = failure(ways[row.kind], row.kind);
    assert.ok(error instanceof FlakeIdError && error instanceof Error, row.kind);
    assert.equal(error.name, 'FlakeIdError');
    assert.equal(error.code, row.code);
    assert.equal(error.retryAfterMs !== undefined, row.retry, row.kind);
    assert.ok(error.message.length > 10 && error.stack.includes('errors.test.mjs'), error.stack);
  }
});
