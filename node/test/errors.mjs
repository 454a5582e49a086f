// Checks of tests/vectors/errors.json, which run in Node and in browsers.

import { equal, failure, ok, rows } from './rows.mjs';

// Returns a call for each error that the library can cause without leases.
function waysTo({ Generator, Layout, ManualClock, fromBase62 }) {
  const clock = () => new ManualClock(1_505_914_988_849);
  return {
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
      const generator = new Generator({
        node: 1,
        sequenceMask: 0,
        overflow: 'error',
        clock: clock(),
      });
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
    LeaseExpired: () =>
      new Generator({ node: 1, clock: clock(), window: { start: 5, fence: 7 } }).nextId(),
  };
}

// The errors that require fork, a ring or leases, which some environments do not have.
const ELSEWHERE = [
  'Forked',
  'RingEmpty',
  'NoFreeNode',
  'ClockSkew',
  'FenceInFuture',
  'StoreUnavailable',
  'StoreRejected',
];

export function checkErrors(flakeid, file) {
  const table = rows(file, 'errors');
  const ways = waysTo(flakeid);
  equal([...Object.keys(ways), ...ELSEWHERE].sort(), table.map((row) => row.kind).sort(), 'kinds');
  for (const { kind, code, retry } of table.filter((row) => row.kind in ways)) {
    const error = failure(ways[kind], kind);
    ok(error instanceof flakeid.FlakeIdError && error instanceof Error, `${kind}: ${error}`);
    equal([error.name, error.code], ['FlakeIdError', code], kind);
    equal(error.retryAfterMs !== undefined, retry, kind);
    ok(error.message.length > 10 && error.stack.includes('errors.mjs'), `${kind}: ${error.stack}`);
  }
}
