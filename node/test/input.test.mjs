// Tests that invalid input of every kind causes a documented error and changes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import flakeid from './subject.mjs';
import { failure, withCode } from './vectors.mjs';

const {
  Generator,
  Layout,
  ManualClock,
  decode,
  fromBytes,
  jsonReviver,
  lowerBound,
  toBase62,
  toBytes,
  upperBound,
} = flakeid;

const NOW = 1_505_914_988_849;
const build = (options) => () => new Generator({ clock: new ManualClock(NOW), ...options });

function wrongType(call, name) {
  const error = failure(call, name);
  assert.ok(error instanceof TypeError, error.stack);
  assert.equal(error.code, 'ERR_INVALID_ARG_TYPE', error.stack);
  assert.ok(error.message.startsWith(`${name} must be `), error.message);
}

const NO_STRING = [undefined, null, 1, 1n, true, {}, [], Symbol('s'), () => 1];
const NO_ID = [
  undefined,
  null,
  1,
  0,
  Number.MAX_SAFE_INTEGER,
  true,
  {},
  [],
  Symbol('s'),
  () => 1,
  new Date(),
  new Uint8Array(8),
];
const NO_WHOLE = [
  null,
  '1',
  1.5,
  Number.NaN,
  Infinity,
  -Infinity,
  2 ** 53,
  true,
  {},
  [1],
  Symbol('s'),
  () => 1,
];

test('functions reject IDs of a wrong type', () => {
  for (const value of NO_ID) {
    for (const call of [toBase62, toBytes, decode, (id) => Layout.parse('twitter').unpack(id)]) {
      wrongType(() => call(value), 'id');
    }
  }
});

test('functions reject IDs that 64 bits cannot hold', () => {
  for (const value of [
    -1n,
    2n ** 64n,
    2n ** 64n + 1n,
    -(2n ** 64n),
    2n ** 200n,
    '',
    '-1',
    '1.5',
    '1e3',
    ' 1',
    '0x1',
    '١',
    '18446744073709551616',
    '1'.repeat(1000),
    '\u0000',
  ]) {
    for (const call of [toBase62, toBytes, decode, (id) => Layout.parse('twitter').unpack(id)]) {
      assert.throws(() => call(value), withCode('FLAKEID_INVALID_ID'), String(value));
    }
  }
});

test('decoders reject invalid strings and bytes', () => {
  for (const form of [
    'Decimal',
    'Base32',
    'Base36',
    'Base58',
    'Base62',
    'Hex',
    'Base58Flickr',
    'Zbase32',
    'Uuid',
  ]) {
    for (const value of NO_STRING) wrongType(() => flakeid[`from${form}`](value), 'text');
    for (const value of ['', '~', '\ud800', 'z'.repeat(100_000)]) {
      assert.throws(() => flakeid[`from${form}`](value), withCode('FLAKEID_INVALID_ID'));
    }
  }
  for (const value of [
    ...NO_STRING,
    'abcdefgh',
    [0, 0, 0, 0, 0, 0, 0, 0],
    new ArrayBuffer(8),
    new Uint16Array(8),
  ]) {
    wrongType(() => fromBytes(value), 'bytes');
  }
  for (const length of [0, 1, 7, 9, 1000]) {
    assert.throws(() => fromBytes(new Uint8Array(length)), withCode('FLAKEID_INVALID_ID'));
  }
  wrongType(() => jsonReviver('id', 1), 'key');
});

test('errors show only the scheme of a misplaced store URL', () => {
  const url = 'postgresql://ada:s3cret@127.0.0.1:1/db';
  const calls = [() => new Generator(url), () => Layout.parse(url), () => decode(url)];
  for (const call of [...calls, build({ node: 1, overflow: url }), build({ node: url })]) {
    assert.throws(call, (error) => {
      assert.match(error.message, /postgresql:\/\/…/);
      return !`${error.stack}${JSON.stringify(error)}`.includes('s3cret');
    });
  }
});

test('functions reject invalid layouts', () => {
  for (const value of NO_STRING) wrongType(() => new Layout(value), 'descriptor');
  for (const value of [null, 1, true, {}, [], Object.create(Layout.prototype)]) {
    wrongType(() => decode(1n, value), 'layout');
    wrongType(() => lowerBound(0, value), 'layout');
    wrongType(build({ node: 1, layout: value }), 'layout');
  }
  for (const value of ['nope', 'TWITTER', '', 't41.n10.s12@0/1ms ', 'x'.repeat(100_000)]) {
    assert.throws(() => Layout.parse(value), withCode('FLAKEID_INVALID_LAYOUT'));
    assert.throws(() => decode(1n, value), withCode('FLAKEID_INVALID_LAYOUT'));
    assert.throws(build({ node: 1, layout: value }), withCode('FLAKEID_INVALID_LAYOUT'));
  }
  assert.throws(() => Layout.parse('twitter').withEpoch(-1), withCode('FLAKEID_INVALID_LAYOUT'));
  assert.throws(
    () => Layout.parse('twitter').withEpoch(2n ** 80n),
    withCode('FLAKEID_INVALID_LAYOUT'),
  );
  wrongType(() => Layout.parse('twitter').withEpoch('2020-01-01'), 'epoch');
  assert.throws(
    () => new Generator({ node: 1, layout: 'baidu' }),
    withCode('FLAKEID_HORIZON_REACHED'),
  );
  assert.throws(build({ node: 1, layout: 't52.s12@0/1ms' }), withCode('FLAKEID_INVALID_LAYOUT'));
});

test('functions reject invalid instants', () => {
  for (const bound of [lowerBound, upperBound]) {
    for (const value of [
      undefined,
      null,
      '0',
      1.5,
      Number.NaN,
      Infinity,
      2 ** 53,
      {},
      new Date(Number.NaN),
    ]) {
      wrongType(() => bound(value), 'instant');
    }
  }
  assert.equal(lowerBound(-(2n ** 100n)), 0n);
  assert.equal(upperBound(2n ** 100n), 2n ** 63n - 1n);
  for (const value of [undefined, null, 'now', 0.5, new Date(Number.NaN)]) {
    wrongType(() => new ManualClock(value), 'unixMs');
    wrongType(() => new ManualClock(0).set(value), 'unixMs');
  }
  for (const value of [undefined, ...NO_WHOLE])
    wrongType(() => new ManualClock(0).advance(value), 'ms');
  assert.throws(() => new ManualClock(0).advance(-1), withCode('FLAKEID_FIELD_OUT_OF_RANGE'));
  assert.throws(
    () => new ManualClock(0).advance(2n ** 64n),
    withCode('FLAKEID_FIELD_OUT_OF_RANGE'),
  );
});

test('pack rejects invalid parts', () => {
  const layout = Layout.parse('twitter');
  for (const value of [undefined, null, 1, 'x']) wrongType(() => layout.pack(value), 'parts');
  for (const name of [
    'tick',
    'unixMs',
    'node',
    'datacenter',
    'worker',
    'clockSequence',
    'sequence',
  ]) {
    for (const value of NO_WHOLE)
      wrongType(() => layout.pack({ tick: 1, node: 1, [name]: value }), name);
  }
  for (const name of ['tick', 'node', 'datacenter', 'worker', 'clockSequence', 'sequence']) {
    for (const value of [-1, -1n, 2n ** 64n, 2n ** 200n]) {
      assert.throws(
        () => layout.pack({ tick: 1, node: 1, [name]: value }),
        withCode('FLAKEID_FIELD_OUT_OF_RANGE'),
      );
    }
  }
  for (const parts of [
    { tick: 1 },
    { node: 1 },
    { tick: 1, datacenter: 1 },
    { tick: 1, unixMs: 1_600_000_000_000, node: 1 },
    { tick: 1, node: 1, worker: 2 },
  ]) {
    assert.throws(() => layout.pack(parts), withCode('FLAKEID_INVALID_OPTION'));
  }
  assert.throws(() => layout.pack({ unixMs: 0, node: 1 }), withCode('FLAKEID_BEFORE_EPOCH'));
  assert.throws(
    () => layout.pack({ unixMs: 2n ** 70n, node: 1 }),
    withCode('FLAKEID_HORIZON_REACHED'),
  );
});

test('a generator requires exactly one node', () => {
  for (const options of [
    {},
    { datacenter: 1 },
    { worker: 1 },
    { node: 1, datacenter: 1, worker: 1 },
    { node: 1, worker: 1 },
    { datacenter: 1, worker: 1, layout: 'plain' },
  ]) {
    assert.throws(build(options), withCode('FLAKEID_INVALID_OPTION'), JSON.stringify(options));
  }
  const missing = failure(() => new Generator(), 'no options');
  assert.equal(missing.code, 'FLAKEID_INVALID_OPTION');
  assert.match(missing.message, /^node: missing: give a node/);
  for (const value of [null, 7, 7n, '7', true]) wrongType(() => new Generator(value), 'options');
  assert.throws(() => Generator({ node: 1 }), TypeError);
  for (const name of ['node', 'datacenter', 'worker']) {
    for (const value of [-1, -1n, 1024, 2n ** 63n, 2n ** 64n, 2n ** 64n + 7n]) {
      const options = name === 'node' ? {} : { datacenter: 1, worker: 1 };
      const error = failure(build({ ...options, [name]: value }), name);
      assert.deepEqual([error.code, error.field], ['FLAKEID_FIELD_OUT_OF_RANGE', name]);
    }
  }
});

test('generators reject invalid options', () => {
  for (const name of [
    'node',
    'datacenter',
    'worker',
    'sequenceMask',
    'sequenceStart',
    'maxAheadMs',
    'maxWaitMs',
  ]) {
    for (const value of NO_WHOLE) wrongType(build({ node: 1, [name]: value }), name);
  }
  for (const name of ['overflow', 'rollback']) {
    for (const value of [null, 1, {}, []]) wrongType(build({ node: 1, [name]: value }), name);
    for (const value of ['', 'Wait', 'never']) {
      assert.throws(build({ node: 1, [name]: value }), withCode('FLAKEID_INVALID_OPTION'));
    }
  }
  for (const [options, code] of [
    [{ sequenceMask: 2 }, 'FLAKEID_INVALID_OPTION'],
    [{ sequenceMask: 8191 }, 'FLAKEID_INVALID_OPTION'],
    [{ sequenceMask: -1 }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ sequenceStart: 13 }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ sequenceStart: -1 }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ sequenceStart: 2n ** 32n }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ maxAheadMs: -1 }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ maxWaitMs: 2n ** 64n }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ overflow: 'borrow' }, 'FLAKEID_INVALID_OPTION'],
    [{ rollback: 'clock-sequence' }, 'FLAKEID_INVALID_OPTION'],
    [{ window: { start: 5, fence: 6 } }, 'FLAKEID_INVALID_OPTION'],
    [{ window: { start: -1, fence: 6 } }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ window: { start: 1, fence: 2n ** 64n } }, 'FLAKEID_FIELD_OUT_OF_RANGE'],
    [{ nodeIds: 2 }, 'FLAKEID_INVALID_OPTION'],
    [{ sequence_mask: 1 }, 'FLAKEID_INVALID_OPTION'],
  ]) {
    assert.throws(
      build({ node: 1, ...options }),
      withCode(code),
      JSON.stringify(Object.keys(options)),
    );
  }
  for (const value of [null, 1, 'x']) wrongType(build({ node: 1, window: value }), 'window');
  wrongType(build({ node: 1, window: { start: 1 } }), 'window.fence');
  wrongType(build({ node: 1, window: { start: '1', fence: 5 } }), 'window.start');
  for (const value of [null, 1, {}, Date, { unixMs: 1n }, Object.create(ManualClock.prototype)]) {
    wrongType(() => new Generator({ node: 1, clock: value }), 'clock');
  }
  for (const value of [null, '2020-01-01', 0.5, new Date(Number.NaN)])
    wrongType(build({ node: 1, epoch: value }), 'epoch');
  assert.throws(build({ node: 1, epoch: -1 }), withCode('FLAKEID_INVALID_LAYOUT'));
});

test('messages contain the JavaScript names of options and fields', () => {
  for (const [options, message, field] of [
    [
      { sequenceStart: 13 },
      'sequenceStart 13 is out of range: must be from 0 to 12',
      'sequenceStart',
    ],
    [
      { maxWaitMs: -1 },
      'maxWaitMs -1 is out of range: must be from 0 to 18446744073709551615',
      'maxWaitMs',
    ],
    [{ window: { start: -1, fence: 6 } }, /^window\.start -1 is out of range/, 'window.start'],
    [{ window: { start: 5, fence: 6 } }, /^window: .* too short/, undefined],
    [{ sequenceMask: 2 }, /^sequenceMask: 2 must be/, undefined],
    [{ worker: 1 }, /either `node`, or `datacenter` with `worker`/, undefined],
  ]) {
    const error = failure(build({ node: 1, ...options }), JSON.stringify(Object.keys(options)));
    if (typeof message === 'string') assert.equal(error.message, message);
    else assert.match(error.message, message);
    assert.equal(error.field, field);
  }
  const layout = new Layout('t32.c4.n10.s17@0/1s');
  const error = failure(() => layout.pack({ tick: 1, node: 1, clockSequence: 16 }));
  assert.equal(error.message, 'clockSequence 16 is out of range: must be from 0 to 15');
  assert.equal(error.field, 'clockSequence');
  assert.match(failure(() => layout.pack({ node: 1 })).message, /give `tick` or `unixMs`/);
});

test('rejected calls change nothing', async () => {
  const generator = build({ node: 1 })();
  const first = generator.nextId();
  for (const value of [undefined, ...NO_WHOLE]) {
    wrongType(() => generator.nextIds(value), 'n');
    await assert.rejects(generator.nextIdsAsync(value), { code: 'ERR_INVALID_ARG_TYPE' });
    wrongType(() => generator.extend(value), 'fence');
  }
  for (const value of [-1, 2 ** 32, 2n ** 64n]) {
    assert.throws(() => generator.nextIds(value), withCode('FLAKEID_FIELD_OUT_OF_RANGE'));
  }
  assert.throws(() => generator.extend(1), withCode('FLAKEID_INVALID_OPTION'));
  assert.throws(() => generator.extend(-1), withCode('FLAKEID_FIELD_OUT_OF_RANGE'));
  for (const method of ['fill', 'tryFill']) {
    for (const value of [
      undefined,
      null,
      3,
      [],
      [1n],
      {},
      new ArrayBuffer(16),
      new Uint8Array(16),
      new Float64Array(2),
      new DataView(new ArrayBuffer(16)),
      Object.create(BigUint64Array.prototype),
    ]) {
      wrongType(() => generator[method](value), 'ids');
    }
  }
  assert.equal(generator.nextId(), first + 1n);
  assert.equal(generator.stats().waits, 0);
});

test('fill accepts arrays without memory', () => {
  const generator = build({ node: 1 })();
  const first = generator.nextId();
  for (const [kind, method] of [
    [BigUint64Array, 'fill'],
    [BigInt64Array, 'fill'],
    [BigUint64Array, 'tryFill'],
  ]) {
    const detached = new kind(4);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    assert.equal(generator[method](detached), 0);
    assert.equal(generator[method](new kind(0)), 0);
  }
  assert.equal(generator.nextId(), first + 1n);
});

test('exceptions of callbacks pass unchanged', () => {
  const generator = build({ node: 1 })();
  const first = generator.nextId();
  class Own extends Error {}
  const strike = () => {
    throw new Own();
  };
  const hostile = new Proxy(
    {},
    { get: strike, has: strike, ownKeys: strike, getPrototypeOf: strike },
  );
  const layout = Layout.parse('twitter');
  for (const call of [
    () => new Generator(hostile),
    () =>
      new Generator({
        get node() {
          return strike();
        },
      }),
    () => new Generator({ node: 1, window: hostile }),
    () =>
      new Generator({
        node: 1,
        window: {
          start: 1,
          get fence() {
            return strike();
          },
        },
      }),
    () => layout.pack(hostile),
    () =>
      layout.pack({
        tick: 1,
        get node() {
          return strike();
        },
      }),
    () => generator.fill(hostile),
    () => lowerBound(hostile),
  ]) {
    assert.throws(call, Own, String(call));
  }
  // The calls that it makes in the meantime work.
  const nested = build({
    get node() {
      return Number(generator.nextId() - first);
    },
  })();
  assert.ok(nested.node >= 1);
  assert.equal(generator.nextId(), first + BigInt(nested.node) + 1n);
});

test('methods reject other objects as this', () => {
  for (const method of ['nextId', 'tryNextId', 'nextIds', 'fill', 'retire', 'stats']) {
    assert.throws(() => Generator.prototype[method].call({}), TypeError);
  }
  assert.throws(() => Layout.prototype.unpack.call({}, 1n), TypeError);
  assert.throws(() => ManualClock.prototype.set.call({}, 1), TypeError);
});
