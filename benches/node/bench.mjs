// Compares flakeid with its rivals and the floor in one run. Prints Markdown, and with --json also writes the figures
// to a file. See README.md.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Snowflake } from '@sapphire/snowflake';
import FlakeId from 'flake-idgen';
import { CachedGenerator, Generator } from 'flakeid-core';
import { Snowyflake } from 'snowyflake';

import { measureStarts, median, printStarts } from './start.mjs';

const require = createRequire(import.meta.url);
const floor = require(process.env.FLAKEID_FLOOR);
const { quick, json } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'string' } },
}).values;
const ROUNDS = quick ? 5 : 101;
const ROUND_MS = quick ? 2 : 20;
const STARTS = quick ? 3 : 51;
const COST = 'CPU cost per ID';
const OTHER = 'none of the three';

// Enough sequence bits that no tick fills up, even by fill, so that no wait is measured.
const largeTicks = { layout: 't37.n3.s23@0/1ms', epoch: Date.now() - 1000 };
const wide = (node, options) => new Generator({ node, ...largeTicks, ...options });

// A generator that throws in a full tick, or while its ring is refilled on a busy machine, issues as many IDs as it
// has.
function unlessFull(call) {
  try {
    return call();
  } catch {
    return undefined;
  }
}

// Every row has a loop of its own, so that the compiler sees one callee in each. Functions with equal source would
// share their profile. Rows without a role are not in the chart.
function row(name, perCall, make, group, role = null) {
  const body = `/* ${name} */ let last; for (let n = 0; n < count; n += 1) last = call(); return last;`;
  const loop = new Function('call', 'count', body);
  return { name, perCall, loop, call: make(), group, role, samples: [], count: 1 };
}

function rows(leased) {
  const epoch = new Date('2020-01-01');
  const [strict, listed, filled] = [wide(1), wide(2), wide(3)];
  const [coarse, system] = [wide(4, { clock: 'coarse' }), wide(5, { clock: 'system' })];
  const [local, buffered] = [wide(6).local(), wide(6).buffered()];
  const cached = new CachedGenerator(wide(7));
  const snowflake = new Snowflake(epoch);
  const idgen = new FlakeId({ epoch: epoch.getTime() });
  const snowy = new Snowyflake({ workerId: 1n, epoch: BigInt(epoch.getTime()) });
  const [bare, bareFill, counted] = [floor.bare(), floor.bareFill(), floor.bareCounted()];
  const million = new BigUint64Array(1_000_000);
  const thousand = new BigUint64Array(1000);
  return [
    row('empty napi-rs call returning a BigInt: N', 1, () => floor.plain, 'N', 'floor'),
    row('the same, by hand: B', 1, () => bare, 'N'),
    row(
      'a bare call that reads the counter and swaps a word, and a BigInt from an array: the bound',
      1,
      () => () => {
        counted();
        return thousand[7];
      },
      'N',
    ),
    row('**flakeid `nextId`**', 1, () => () => strict.nextId(), 'N', 'ours'),
    row('**flakeid `nextId`, leased on SQLite**', 1, () => () => leased.nextId(), 'N', 'ours'),
    row("**flakeid `nextId`, `clock: 'system'`**", 1, () => () => system.nextId(), 'N', 'ours'),
    row("**flakeid `nextId`, `clock: 'coarse'`**", 1, () => () => coarse.nextId(), 'N', 'ours'),
    row('**flakeid `local()`**', 1, () => () => local.nextId(), 'N', 'ours'),
    row(
      '**flakeid `CachedGenerator`**',
      1,
      () => () => unlessFull(() => cached.nextId()),
      'N',
      'ours',
    ),
    row('**flakeid `buffered()`**', 1, () => () => buffered.nextId(), 'N', 'ours'),
    row('reading a BigInt from an array', 1, () => () => thousand[7], 'N'),
    row('`Date.now()`', 1, () => () => Date.now(), 'N', 'rival'),
    row(
      '@sapphire/snowflake `generate` (repeats IDs)',
      1,
      () => () => snowflake.generate(),
      'N',
      'rival',
    ),
    row('snowyflake `nextId` (repeats IDs)', 1, () => () => snowy.nextId(), 'N', 'rival'),
    row(
      'flake-idgen `next` (a Buffer)',
      1,
      () => () => unlessFull(() => idgen.next()),
      'N',
      'rival',
    ),
    row('`crypto.randomUUID`', 1, () => () => randomUUID(), 'N', 'rival'),
    row('**flakeid `nextIds(1000)`**', 1000, () => () => listed.nextIds(1000), 'N'),
    row('native fill of 1000', 1000, () => () => bareFill(thousand), '1000'),
    row('**flakeid `fill` of 1000**', 1000, () => () => filled.fill(thousand), '1000'),
    row('native fill of 1 M', 1e6, () => () => bareFill(million), '1M'),
    row('**flakeid `fill` of 1 M**', 1e6, () => () => filled.fill(million), '1M'),
  ];
}

function sample(row, count) {
  const start = process.hrtime.bigint();
  row.loop(row.call, count);
  return Number(process.hrtime.bigint() - start) / count / row.perCall;
}

// The fastest of three, because an interruption would end the calibration too early.
function quickest(row) {
  const samples = [1, 2, 3].map(() => sample(row, row.count));
  return Math.min(...samples) * row.count * row.perCall;
}

function ratio(row, to) {
  return median(row.samples.map((value, round) => value / to.samples[round]));
}

function cost(leased) {
  const all = rows(leased);
  for (const row of all) {
    while (quickest(row) < ROUND_MS * 1e6) row.count *= 2;
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round % 25 === 0) progress(`round ${round} of ${ROUNDS}`);
    for (let turn = 0; turn < all.length; turn += 1) {
      const row = all[(turn + round) % all.length];
      row.samples.push(sample(row, row.count));
    }
  }
  return all;
}

// Returns the number of repeated IDs among consecutive ones.
function repeated(next) {
  const ids = new BigUint64Array(quick ? 400_000 : 4_000_000);
  for (let index = 0; index < ids.length; ) {
    const id = next();
    if (id !== undefined) ids[index++] = id;
  }
  ids.sort();
  let count = 0;
  for (let index = 1; index < ids.length; index += 1) if (ids[index] === ids[index - 1]) count += 1;
  return `${count.toLocaleString('en')} of ${ids.length.toLocaleString('en')}`;
}

function duplicates() {
  const epoch = new Date('2020-01-01');
  const generator = new Generator({ node: 5 });
  const snowflake = new Snowflake(epoch);
  const idgen = new FlakeId({ epoch: epoch.getTime() });
  const snowy = new Snowyflake({ workerId: 1n, epoch: BigInt(epoch.getTime()) });
  return [
    ['**flakeid `nextId`**', repeated(() => generator.nextId())],
    ['@sapphire/snowflake', repeated(() => snowflake.generate())],
    ['snowyflake', repeated(() => snowy.nextId())],
    ['flake-idgen', repeated(() => unlessFull(() => idgen.next())?.readBigUInt64BE())],
  ];
}

function progress(what) {
  console.error(`node: ${what}`);
}

const slug = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

function figure(table, row, kind, unit, ratio) {
  return {
    id: `node.${slug(table)}.${slug(row.name)}`,
    table,
    label: row.name,
    role: row.role,
    kind,
    unit,
    median: median(row.samples),
    min: Math.min(...row.samples),
    max: Math.max(...row.samples),
    ratio,
  };
}

function version(name) {
  return `${name} ${JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version}`;
}

const range = (row) =>
  `${median(row.samples).toFixed(2)} | ${Math.min(...row.samples).toFixed(2)}..`
  + Math.max(...row.samples).toFixed(2);

const store = mkdtempSync(join(tmpdir(), 'flakeid-bench-'));
process.on('exit', () => rmSync(store, { recursive: true }));
const leased = await Generator.lease(`sqlite://${join(store, 'flakeid.db')}`, largeTicks);
leased.nextId();
const all = cost(leased);
await leased.close();
// Finds a row by the start of its name, which must be unique, so that a new row cannot replace another in a target.
function find(start) {
  const found = all.filter((row) => row.name.startsWith(start));
  if (found.length !== 1) throw new Error(`${found.length} rows begin with ${start}, not one`);
  return found[0];
}
const [n, bare, nextId, nextLeased, now, sapphire, buffered] = [
  'empty napi-rs call',
  'the same, by hand',
  '**flakeid `nextId`**',
  '**flakeid `nextId`, leased',
  '`Date.now()`',
  '@sapphire',
  '**flakeid `buffered()`',
].map(find);
const facts = [
  `Node ${process.version}; ${ROUNDS} rounds of ${ROUND_MS} ms a row`,
  ['flakeid-core', '@sapphire/snowflake', 'snowyflake', 'flake-idgen'].map(version).join(', '),
];
const figures = [];
for (const fact of facts) console.log(`- ${fact}`);

console.log(`\n## One ID\n\nKind of figures: ${COST}. ${cpus().length} processors.\n`);
console.log('| row | ns an ID | min..max | × N | × its own floor |\n|---|---:|---:|---:|---:|');
for (const row of all) {
  const own = row.group === 'N' ? n : all.find((other) => other.group === row.group);
  const toOwn = row.group === 'N' ? '' : ratio(row, own).toFixed(2);
  console.log(`| ${row.name} | ${range(row)} | ${ratio(row, n).toFixed(3)} | ${toOwn} |`);
  figures.push(figure('One ID', row, COST, 'ns', ratio(row, own)));
}

console.log(`\n## Start-up\n\nKind of figures: ${OTHER}.\n`);
const starts = measureStarts(STARTS, progress);
printStarts(starts);
for (const row of starts.rows) figures.push(figure('Start-up', row, OTHER, 'ms', null));

console.log(
  '\n## Repeated IDs\n\n| IDs that came before | layout of 4096 a millisecond |\n|---|---|',
);
progress('repeated IDs');
for (const [name, count] of duplicates()) console.log(`| ${name} | ${count} |`);

console.log('\n## Targets\n\n| target | at most | here | |\n|---|---:|---:|---|');
const targets = [
  ['N1', '`nextId` / N', 1.25, ratio(nextId, n)],
  ['N3', '`nextId` / B', 1.25, ratio(nextId, bare)],
  ['N1', '`nextId` / `Date.now()`', 0.65, ratio(nextId, now)],
  ['N2', '`buffered()` / N', 0.25, ratio(buffered, n)],
  ['N2', '`buffered()` / reading a BigInt', 1.6, ratio(buffered, find('reading a BigInt'))],
  ['L1', 'leased / fixed `nextId`', 1.05, ratio(nextLeased, nextId)],
  ['Peers', '`nextId` / @sapphire/snowflake', 0.45, ratio(nextId, sapphire)],
  [
    'N4',
    '`fill` of 1000 / native fill',
    1.75,
    ratio(find('**flakeid `fill` of 1000'), find('native fill of 1000')),
  ],
  [
    'N4',
    '`fill` of 1 M / native fill',
    1.05,
    ratio(find('**flakeid `fill` of 1 M'), find('native fill of 1 M')),
  ],
  ['Start', '`require`, in ms more than an empty package', 5, starts.ours.beside],
  [
    'Start',
    '`require` / a package that only loads the add-on, which is its bound',
    1.3,
    ratio(starts.ours, starts.bound),
  ],
].map(([id, what, limit, measured]) => {
  const met = measured <= limit;
  const verdict = met ? 'met' : '**missed**';
  console.log(`| ${id}: ${what} | ${limit.toFixed(2)} | ${measured.toFixed(2)} | ${verdict} |`);
  return { id, what, bound: 'at most', limit, measured, met };
});
if (json) {
  const data = { suite: 'Node', facts, rows: figures, targets };
  writeFileSync(json, `${JSON.stringify(data, null, 2)}\n`);
}
