// Members of a fleet that lease through WebAssembly, for the measurement of brokers. They behave
// like the members in Rust and write the same files.

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const PERIOD = 10;
const text = { type: 'string' };
const { values } = parseArgs({
  options: { package: text, url: text, layout: text, threads: text, folder: text },
});
const require = createRequire(import.meta.url);
const { Generator, Layout } = require(resolve(values.package, 'wasm.js'));

let isOver = false;

// Runs a member, which issues an ID every 10 ms until the program ends.
async function issue() {
  const ids = [];
  const failures = new Map();
  const member = { ids, failures, longest: 0, first: 0, late: 0, renewed: 0 };
  const fail = ({ code }) => failures.set(code, (failures.get(code) ?? 0) + 1);
  const onEvent = ({ kind, error }) => {
    if (kind === 'renewed') member.renewed += 1;
    else if (error !== null && error !== undefined && kind !== 'fenced-off') fail(error);
  };
  const begun = performance.now();
  let generator;
  while (generator === undefined && !isOver) {
    const options = { namespace: 'failover', layout: values.layout, onEvent };
    try {
      generator = await Generator.lease(values.url, options);
    } catch (error) {
      fail(error);
    }
  }
  if (generator === undefined) return member;
  member.first = performance.now() - begun;
  let last = performance.now();
  let wake = last;
  while (!isOver) {
    try {
      ids.push(await generator.nextIdAsync());
      const now = performance.now();
      member.longest = Math.max(member.longest, now - last);
      last = now;
    } catch (error) {
      fail(error);
    }
    wake = Math.max(wake + PERIOD, performance.now());
    await sleep(Math.max(0, wake - performance.now()));
    member.late = Math.max(member.late, performance.now() - wake);
  }
  member.longest = Math.max(member.longest, performance.now() - last);
  await generator.close();
  return member;
}

function write(member, number) {
  const { ids, failures, longest, first, late, renewed } = member;
  const bytes = Buffer.alloc(8 * ids.length);
  ids.forEach((id, index) => {
    bytes.writeBigUInt64LE(id, 8 * index);
  });
  writeFileSync(join(values.folder, `${number}.ids`), bytes);
  const layout = Layout.parse(values.layout);
  const nodes = ids.map((id) => layout.unpack(id).node);
  const moves = nodes.filter((node, index) => index > 0 && node !== nodes[index - 1]).length;
  const full = failures.get('FLAKEID_NO_FREE_NODE') ?? 0;
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0) - full;
  const measured = {
    longest_ms: Math.round(longest),
    first_ms: Math.round(first),
    late_ms: Math.round(late),
    moves,
    renewed,
    failed,
    no_free_node: full,
    failure_codes: Object.fromEntries(failures),
  };
  writeFileSync(join(values.folder, `${number}.member`), JSON.stringify(measured));
}

process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();
const members = Array.from({ length: Number(values.threads) }, issue);
(await Promise.all(members)).forEach(write);
