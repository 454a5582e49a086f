// Measures the first statement of new processes, in turn: flakeid's package, packages that do less, and its rivals.
// bench.mjs includes these figures; alone, this program prints them:
//
//   node start.mjs [--rounds N]

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const median = (numbers) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

// Returns the milliseconds that a statement takes as the first one of a new process.
function started(statement) {
  const program = `const start = process.hrtime.bigint(); ${statement};
    console.log(Number(process.hrtime.bigint() - start) / 1e6)`;
  return Number(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }));
}

// Creates a package of one file in node_modules, which the next installation of packages removes. `entry` contains the
// fields of package.json that name the file.
function definePackage(name, entry, source) {
  const folder = `node_modules/${name}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(`${folder}/package.json`, JSON.stringify({ name, ...entry }));
  writeFileSync(`${folder}/index.js`, source);
}

function statements() {
  const [addon] = readdirSync('node_modules').filter((name) => /^flakeid-core-.*-/.test(name));
  const [main, exported] = [{ main: 'index.js' }, { exports: './index.js' }];
  definePackage('bench-empty', main, "'use strict';\n");
  definePackage('bench-exports', exported, "'use strict';\n");
  definePackage(
    'bench-addon',
    exported,
    `'use strict';\n\nmodule.exports = require('${addon}');\n`,
  );
  const load = (path) => `require(${JSON.stringify(path)})`;
  const found = [
    ['an empty package: the floor', load('bench-empty')],
    ['an empty package with `exports`', load('bench-exports')],
    ["a package with `exports` that only loads flakeid's add-on: the bound", load('bench-addon')],
    ['**flakeid `require`**', load('flakeid-core')],
    [
      '**flakeid `require`, a generator and its first ID**',
      "const { Generator } = require('flakeid-core'); new Generator({ node: 1 }).nextId()",
    ],
    ['@sapphire/snowflake `require`', load('@sapphire/snowflake')],
    ['flake-idgen `require`', load('flake-idgen')],
  ];
  const floor = process.env.FLAKEID_FLOOR;
  if (floor !== undefined) found.push(['an add-on in Rust with four functions', load(floor)]);
  return found;
}

// Each round measures every statement once, and begins with another statement.
export function measureStarts(rounds, progress) {
  const rows = statements().map(([name, statement]) => ({
    name,
    statement,
    role: null,
    samples: [],
  }));
  for (let round = 0; round < rounds; round += 1) {
    if (round % 25 === 0) progress(`start ${round} of ${rounds}`);
    for (let turn = 0; turn < rows.length; turn += 1) {
      const row = rows[(turn + round) % rows.length];
      row.samples.push(started(row.statement));
    }
  }
  const [empty, , bound, ours] = rows;
  const beside = (row, other) => median(row.samples.map((ms, round) => ms - other.samples[round]));
  for (const row of rows) row.beside = beside(row, empty);
  return { rows, ours, bound };
}

export function printStarts({ rows }) {
  console.log('| in a new process | ms | min..max | ms more than an empty package |');
  console.log('|---|---:|---:|---:|');
  for (const { name, samples, beside } of rows) {
    const [low, high] = [Math.min(...samples), Math.max(...samples)].map((ms) => ms.toFixed(2));
    console.log(
      `| ${name} | ${median(samples).toFixed(2)} | ${low}..${high} | ${beside.toFixed(2)} |`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '101' } } }).values;
  printStarts(measureStarts(Number(rounds), (what) => console.error(what)));
}
