// Compares flakeid-core/wasm with another generator in WebAssembly and the floors, in one run. Prints Markdown, and with
// --json also writes the figures to a file. Rows are sampled in turn, each once per round, and each round begins with
// another row. A ratio compares two rows of the same round; the median of the rounds is printed.
//
//   cargo xtask wasm --bench

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { Generator } from 'flakeid-core/wasm';
import { Snowflake } from 'nodejs-snowflake';

const { quick, json } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'string' } },
}).values;
const ROUNDS = quick ? 5 : 101;
const ROUND_MS = quick ? 2 : 20;
const COST = 'CPU cost per ID';

// Enough sequence bits that no tick fills up, even by fill. 36 bits of milliseconds last two years.
const layout = `t36.n1.s26@${Date.now() - 3_600_000}/1ms`;
const generator = new Generator({ layout, node: 1 });
await generator.nextIdAsync();
const thousand = new BigUint64Array(1000);
const million = new BigUint64Array(1_000_000);

// (module (func (export "one") (result i64) i64.const 2^62))
const empty = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7e, 0x03,
  0x02, 0x01, 0x00, 0x07, 0x07, 0x01, 0x03, 0x6f, 0x6e, 0x65, 0x00, 0x00, 0x0a, 0x0f, 0x01, 0x0d,
  0x00, 0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0x00, 0x0b,
]);
const { one } = (await WebAssembly.instantiate(empty)).instance.exports;

// The minimum that a module needs to return a number with the time: it reads the clock, shifts the time to the bits of a
// layout and adds a number, and JavaScript gets a BigInt. The first module calls the clock itself:
// (module (import "host" "now" (func $now (result f64)))
//   (func (export "imported") (result i64)
//     (i64.add (i64.shl (i64.trunc_sat_f64_s (call $now)) (i64.const 20)) (i64.const 1))))
const importing = Buffer.from(
  'AGFzbQEAAAABCQJgAAF8YAABfgIMAQRob3N0A25vdwAAAwIBAQcMAQhpbXBvcnRlZAABCg4BDAAQAPwGQhSGQgF8Cw==',
  'base64',
);
const { imported } = (await WebAssembly.instantiate(importing, { host: { now: Date.now } }))
  .instance.exports;

// JavaScript passes the time to the second module, and reads the number from the module's memory:
// (module (memory (export "memory") 1)
//   (func (export "passed") (param $now f64)
//     (i64.store (i32.const 0)
//       (i64.add (i64.shl (i64.trunc_sat_f64_s (local.get $now)) (i64.const 20)) (i64.const 1)))))
const passing = Buffer.from(
  'AGFzbQEAAAABBQFgAXwAAwIBAAUDAQABBxMCBm1lbW9yeQIABnBhc3NlZAAAChMBEQBBACAA/AZCFIZCAXw3AwAL',
  'base64',
);
const passive = (await WebAssembly.instantiate(passing)).instance.exports;
const { passed } = passive;
const cell = new BigUint64Array(passive.memory.buffer, 0, 1);

// Eight numbers per iteration, with the instructions of all browsers that flakeid-core/wasm supports, which lack vectors.
// (module (memory (export "memory") 1)
//   (func (export "rise") (param $first i64) (param $bytes i32) (local $at i32)
//     (loop $next
//       (i64.store (local.get $at) (local.get $first))
//       (i64.store offset=8 (local.get $at) (i64.add (local.get $first) (i64.const 1)))
//       ... up to offset=56 and 7 ...
//       (local.set $first (i64.add (local.get $first) (i64.const 8)))
//       (br_if $next (i32.lt_u
//         (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $bytes))))))
const loop = Buffer.from(
  'AGFzbQEAAAABBgFgAn5/AAMCAQAFAwEAAQcRAgZtZW1vcnkCAARyaXNlAAAKagFoAQF/A0AgAiAANwMAIAIgAEIBfDcD'
    + 'CCACIABCAnw3AxAgAiAAQgN8NwMYIAIgAEIEfDcDICACIABCBXw3AyggAiAAQgZ8NwMwIAIgAEIHfDcDOCAAQgh8IQAg'
    + 'AkHAAGoiAiABSQ0ACws=',
  'base64',
);
const { memory, rise } = (await WebAssembly.instantiate(loop)).instance.exports;

let stamp = 0;

// The number of IDs that flakeid-core/wasm generates before it copies them (ROOM of node/lib/wasm.js), so that both loops use
// the same cache.
const ROOM = 8192;
const whole = new BigUint64Array(memory.buffer, 0, ROOM);

// The minimum that fills an array from a module: reads the clock, writes increasing numbers into its memory, and copies
// them piece by piece. The length of all arrays is a multiple of eight.
function bareFill(array) {
  for (let at = 0; at < array.length; at += ROOM) {
    const count = Math.min(ROOM, array.length - at);
    stamp = Date.now();
    rise(2n ** 62n + BigInt(at), count * 8);
    array.set(count === ROOM ? whole : whole.subarray(0, count), at);
  }
}

// The layout has a fixed maximum of 1,024 IDs per millisecond, so several generators take turns.
const rivals = Array.from({ length: 64 }, (_, id) => new Snowflake({ instance_id: id }));
let turn = 0;
function rival() {
  turn += 1;
  return rivals[(turn >> 7) & 63].getUniqueID();
}

// Every row has a loop of its own, so that the compiler sees one callee in each. Functions with equal source would
// share their profile.
function row(name, ids, call, floor, role = null) {
  const body = `/* ${name} */ let last; for (let n = 0; n < count; n += 1) last = call(); return last;`;
  return {
    name,
    ids,
    call,
    loop: new Function('call', 'count', body),
    floor,
    role,
    samples: [],
    count: 1,
  };
}

const BOUND =
  '`Date.now()` and increasing numbers by a bare loop in WebAssembly, copied out: the bound';
const now = row(
  '`Date.now()`, which it has to call: the floor',
  1,
  () => Date.now(),
  undefined,
  'floor',
);
const bare = row('an empty WebAssembly call returning a BigInt', 1, () => one(), now);
const ownClock = row(
  'a WebAssembly call that calls `Date.now()` and returns a BigInt',
  1,
  () => imported(),
  now,
);
const bound = row(
  'a WebAssembly call with `Date.now()`, and a BigInt from its memory: the bound',
  1,
  () => {
    passed(Date.now());
    return cell[0];
  },
  now,
);
const nextId = row('**flakeid** `nextId()`', 1, () => generator.nextId(), now, 'ours');
const tryNextId = row('**flakeid** `tryNextId()`', 1, () => generator.tryNextId(), now, 'ours');
const peer = row('nodejs-snowflake `getUniqueID` (64 in turn)', 1, rival, now, 'rival');
const same1000 = row('`array.fill` of 1000', 1000, () => thousand.fill(7n));
const bound1000 = row(BOUND, 1000, () => bareFill(thousand), same1000);
const fill1000 = row('**flakeid** `fill` of 1000', 1000, () => generator.fill(thousand), same1000);
const same1M = row('`array.fill` of 1 M', 1e6, () => million.fill(7n));
const bound1M = row(`${BOUND}, 1 M`, 1e6, () => bareFill(million), same1M);
const fill1M = row('**flakeid** `fill` of 1 M', 1e6, () => generator.fill(million), same1M);
const rows = [
  now,
  bare,
  ownClock,
  bound,
  nextId,
  tryNextId,
  peer,
  same1000,
  bound1000,
  fill1000,
  same1M,
  bound1M,
  fill1M,
];

function sample({ call, loop, count, ids }) {
  const start = process.hrtime.bigint();
  loop(call, count);
  return Number(process.hrtime.bigint() - start) / count / ids;
}

// The fastest of three, because an interruption would end the calibration too early.
const quickest = (row) => Math.min(sample(row), sample(row), sample(row)) * row.count * row.ids;
for (const row of rows) while (quickest(row) < ROUND_MS * 1e6) row.count *= 2;
for (let round = 0; round < ROUNDS; round += 1) {
  if (round % 25 === 0) console.error(`wasm: round ${round} of ${ROUNDS}`);
  for (let offset = 0; offset < rows.length; offset += 1) {
    const row = rows[(round + offset) % rows.length];
    row.samples.push(sample(row));
  }
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const ratio = (row, to) => median(row.samples.map((ns, round) => ns / to.samples[round]));
const slug = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

const version = (name) =>
  JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version;
const facts = [
  `Node ${process.version}; flakeid-core/wasm ${version('flakeid-core')}, `
    + `nodejs-snowflake ${version('nodejs-snowflake')}; ${ROUNDS} rounds of ${ROUND_MS} ms a row`,
];
console.log(`- ${facts[0]}\n\n## One ID\n\nKind of figures: ${COST}.\n`);
console.log('| row | ns an ID | min..max | × its floor |\n|---|---:|---:|---:|');
const figures = rows.map((row) => {
  const [mid, min, max] = [median(row.samples), Math.min(...row.samples), Math.max(...row.samples)];
  const toFloor = ratio(row, row.floor ?? row);
  console.log(
    `| ${row.name} | ${mid.toFixed(2)} | ${min.toFixed(2)}..${max.toFixed(2)} | ${toFloor.toFixed(3)} |`,
  );
  return {
    id: `wasm.${slug(row.name)}`,
    table: 'One ID',
    label: row.name,
    role: row.role,
    kind: COST,
    unit: 'ns',
    median: mid,
    min,
    max,
    ratio: toFloor,
  };
});

console.log(
  '\nThe bound writes eight numbers a turn. The module is compiled for size, because it is downloaded, and '
    + 'writes one: that is most of what `fill` takes more. Neither has vectors, which not every browser has that '
    + 'flakeid-core/wasm is for.',
);
console.log('\n## Targets\n\n| target | at most | here | |\n|---|---:|---:|---|');
const targets = [
  ['N5', '`nextId` / `Date.now()`', 1.2, ratio(nextId, now)],
  ['N5', '`nextId` / a call with `Date.now()`, which is its bound', 1.1, ratio(nextId, bound)],
  ['N5', '`fill` of 1000 / `array.fill`', 1.1, ratio(fill1000, same1000)],
  [
    'N5',
    '`fill` of 1000 / a bare loop, copied out, which is its bound',
    1.2,
    ratio(fill1000, bound1000),
  ],
  [
    'N5',
    '`fill` of 1 M / a bare loop, copied out, which is its bound',
    1.05,
    ratio(fill1M, bound1M),
  ],
].map(([id, what, limit, measured]) => {
  const met = measured <= limit;
  const verdict = met ? 'met' : '**missed**';
  console.log(`| ${id}: ${what} | ${limit.toFixed(2)} | ${measured.toFixed(2)} | ${verdict} |`);
  return { id, what, bound: 'at most', limit, measured, met };
});
if (stamp === 1) console.log();
if (json) {
  const data = { suite: 'WebAssembly', facts, rows: figures, targets };
  writeFileSync(json, `${JSON.stringify(data, null, 2)}\n`);
}
