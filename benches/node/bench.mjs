// flakeid beside its rivals and the floor, in one run. Prints Markdown. See README.md.

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';

import { Snowflake } from '@sapphire/snowflake';
import FlakeId from 'flake-idgen';
import { Generator } from 'flakeid-core';
import { Snowyflake } from 'snowyflake';

const floor = createRequire(import.meta.url)(process.env.FLAKEID_FLOOR);
const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 5 : 41;
const ROUND_MS = quick ? 2 : 20;

// So many sequence bits that no tick fills up, even by fill: what is measured is no wait.
const wide = (node) => new Generator({ node, layout: 't37.n3.s23@0/1ms', epoch: Date.now() - 1000 });

// One that throws in a full tick is asked for as many IDs as it has.
function unlessFull(call) {
  try {
    return call();
  } catch {
    return undefined;
  }
}

// Every row has a loop of its own, so that the compiler sees one callee in each; equal sources would
// share what it has seen.
function row(name, perCall, make, group) {
  const body = `/* ${name} */ let last; for (let n = 0; n < count; n += 1) last = call(); return last;`;
  const loop = new Function('call', 'count', body);
  return { name, perCall, loop, call: make(), group, samples: [], count: 1 };
}

function rows() {
  const epoch = new Date('2020-01-01');
  const [strict, listed, filled] = [wide(1), wide(2), wide(3)];
  const snowflake = new Snowflake(epoch);
  const idgen = new FlakeId({ epoch: epoch.getTime() });
  const snowy = new Snowyflake({ workerId: 1n, epoch: BigInt(epoch.getTime()) });
  const [bare, bareFill] = [floor.bare(), floor.bareFill()];
  const million = new BigUint64Array(1_000_000);
  const thousand = new BigUint64Array(1000);
  return [
    row('empty napi-rs call returning a BigInt: N', 1, () => floor.plain, 'N'),
    row('the same, by hand: B', 1, () => bare, 'N'),
    row('**flakeid `nextId`**', 1, () => () => strict.nextId(), 'N'),
    row('`Date.now()`', 1, () => () => Date.now(), 'N'),
    row('@sapphire/snowflake `generate`', 1, () => () => snowflake.generate(), 'N'),
    row('snowyflake `nextId`', 1, () => () => snowy.nextId(), 'N'),
    row('flake-idgen `next` (a Buffer)', 1, () => () => unlessFull(() => idgen.next()), 'N'),
    row('`crypto.randomUUID`', 1, () => () => randomUUID(), 'N'),
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

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

function ratio(row, to) {
  return median(row.samples.map((value, round) => value / to.samples[round]));
}

function cost() {
  const all = rows();
  for (const row of all) {
    while (sample(row, row.count) * row.count * row.perCall < ROUND_MS * 1e6) row.count *= 2;
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let turn = 0; turn < all.length; turn += 1) {
      const row = all[(turn + round) % all.length];
      row.samples.push(sample(row, row.count));
    }
  }
  return all;
}

// How many of so many IDs in a row were there before.
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

const all = cost();
const [n, bare, nextId, now, sapphire] = all;
const find = (name) => all.find((row) => row.name.includes(name));
console.log(`Node ${process.version}, ${cpus()[0].model}, ${cpus().length} processors; `
  + `${ROUNDS} rounds of ${ROUND_MS} ms a row, sampled in turn.\n`);
console.log('| row | ns an ID | × N | × its own floor |\n|---|---|---|---|');
for (const row of all) {
  const own = row.group === 'N' ? n : all.find((other) => other.group === row.group);
  const bare = row.group === 'N' ? '' : ratio(row, own).toFixed(2);
  console.log(`| ${row.name} | ${median(row.samples).toFixed(2)} | ${ratio(row, n).toFixed(3)} | ${bare} |`);
}
console.log('\n| IDs that came before | layout of 4096 a millisecond |\n|---|---|');
for (const [name, count] of duplicates()) console.log(`| ${name} | ${count} |`);

console.log('\n| target | at most | here | |\n|---|---|---|---|');
for (const [name, most, value] of [
  ['`nextId` / N', 1.25, ratio(nextId, n)],
  ['`nextId` / B', 1.25, ratio(nextId, bare)],
  ['`nextId` / `Date.now()`', 1, ratio(nextId, now)],
  ['`nextId` / @sapphire/snowflake', 0.45, ratio(nextId, sapphire)],
  ['`fill` of 1000 / native fill', 1.75, ratio(find('`fill` of 1000'), find('native fill of 1000'))],
  ['`fill` of 1 M / native fill', 1.05, ratio(find('`fill` of 1 M'), find('native fill of 1 M'))],
]) {
  console.log(`| ${name} | ${most.toFixed(2)} | ${value.toFixed(2)} | ${value <= most ? 'met' : '**missed**'} |`);
}
