// Tests that no two instances in a process issue IDs of one fixed node.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import flakeid from 'flakeid-core/wasm';

import { anotherCopy, anotherInstance } from './installed.mjs';

const require = createRequire(import.meta.url);
const IN_USE = { name: 'FlakeIdError', code: 'FLAKEID_NODE_IN_USE' };

// Runs `body` at one fixed time, so that positions that instances do not share lead to equal IDs.
function atOnce(body) {
  const original = Date.now;
  const start = original();
  let now = start;
  Date.now = () => now;
  try {
    return body((ms) => {
      now = start + ms;
    });
  } finally {
    Date.now = original;
  }
}

test('copies of the package in a thread share one instance', () => {
  const copy = anotherCopy();
  assert.notEqual(copy.Generator, flakeid.Generator);
  assert.equal(require('flakeid-core/wasm'), flakeid);
  atOnce((after) => {
    const generators = [flakeid, copy, flakeid].map(
      ({ Generator }) => new Generator({ node: 601 }),
    );
    after(1);
    const ids = generators.flatMap((generator) => generator.nextIds(1000));
    assert.equal(new Set(ids).size, 3000);
  });
});

test('a second instance is refused a node, and gets another one', () => {
  const { flakeid: other } = anotherInstance();
  atOnce((after) => {
    const one = new flakeid.Generator({ node: 602 });
    const refused = { ...IN_USE, message: /^node: 602 is in use .* lease the nodes/ };
    assert.throws(() => new other.Generator({ node: 602 }), refused);
    // The name of the layout and the split of the node do not distinguish IDs.
    const layout = 't41.n10.s12@1288834974657/1ms';
    assert.throws(() => new other.Generator({ node: 602, layout }), IN_USE);
    assert.throws(() => new other.Generator({ datacenter: 18, worker: 26 }), IN_USE);
    const two = new other.Generator({ node: 603 });
    assert.throws(() => new flakeid.Generator({ node: 603 }), IN_USE);
    after(1);
    assert.equal(new Set([...one.nextIds(1000), ...two.nextIds(1000)]).size, 2000);
  });
});

test('a node stays claimed after its generator is closed', async () => {
  const { flakeid: other } = anotherInstance();
  const generator = new flakeid.Generator({ node: 604 });
  await generator.close();
  assert.throws(() => new other.Generator({ node: 604 }), IN_USE);
  assert.ok(new flakeid.Generator({ node: 604 }).nextId() > 0n);
});

test('manual clocks, windows and exclusive nodes are not claimed', () => {
  const { flakeid: other } = anotherInstance();
  const window = { start: 0, fence: 2 ** 40 };
  for (const { Generator, ManualClock } of [flakeid, other]) {
    const clock = new ManualClock(1_600_000_000_000);
    assert.ok(new Generator({ node: 605, clock }).nextId() > 0n);
    assert.ok(new Generator({ node: 605, window }).nextId() > 0n);
    assert.ok(new Generator({ node: 605, exclusive: true }).nextId() > 0n);
  }
  assert.throws(() => new flakeid.Generator({ node: 605, exclusive: 1 }), {
    code: 'ERR_INVALID_ARG_TYPE',
    message: /^exclusive must be a boolean/,
  });
});

test('alternating calls return the IDs of their own instance', () => {
  const { flakeid: other } = anotherInstance();
  const clocks = [
    new flakeid.ManualClock(1_505_914_988_849n),
    new other.ManualClock(1_600_000_000_000n),
  ];
  const generators = [
    new flakeid.Generator({ node: 1, clock: clocks[0] }),
    new other.Generator({ node: 2, clock: clocks[1] }),
  ];
  const runs = [new BigUint64Array(10), new BigUint64Array(10)];
  for (let turn = 0; turn < 1000; turn += 1) {
    generators.forEach((generator, index) => {
      const { node, unixMs } = flakeid.decode(generator.nextId());
      assert.deepEqual([node, BigInt(unixMs)], [index + 1, clocks[index].unixMs]);
      assert.equal(generator.fill(runs[index]), 10);
    });
  }
  runs.forEach((run, index) => {
    for (const id of run) assert.equal(flakeid.decode(id).node, index + 1);
  });
});

test('an instance rejects objects of another instance', () => {
  const { flakeid: other } = anotherInstance();
  const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  const clock = new other.ManualClock(1_505_914_988_849);
  assert.throws(() => new flakeid.Generator({ node: 1, clock }), wrongType);
  const layout = other.Layout.parse('plain');
  assert.throws(() => new flakeid.Generator({ node: 1, layout }), wrongType);
  assert.ok(!flakeid.Layout.parse('plain').equals(layout));
  assert.throws(
    () => flakeid.Generator.prototype.nextId.call(new other.Generator({ node: 1, clock })),
    TypeError,
  );
  // Each copy of the library recognizes the errors of the other.
  assert.throws(
    () => other.decode('-1'),
    (error) => error instanceof other.FlakeIdError && error instanceof flakeid.FlakeIdError,
  );
});

// A worker that opens a generator, and reports its IDs or the code of the error.
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { now, options, path } = workerData;
  const { Generator } = require(path);
  const ids = () => {
    Date.now = () => now;
    const generator = new Generator(options);
    Date.now = () => now + 1;
    return generator.nextIds(1000);
  };
  try {
    parentPort.postMessage(ids());
  } catch ({ code, message }) {
    parentPort.postMessage([code, message]);
  }
`;

function inWorker(options, now) {
  const workerData = { now, options, path: require.resolve('flakeid-core/wasm') };
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { eval: true, workerData });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

test('of two workers on one node, one is refused', async () => {
  const now = 1_800_000_000_000;
  const both = await Promise.all([inWorker({ node: 606 }, now), inWorker({ node: 606 }, now)]);
  const [refused, made] = both.sort((one, other) => one.length - other.length);
  assert.equal(refused[0], IN_USE.code);
  assert.equal(new Set(made).size, 1000);
  // The worker that made IDs has ended, but its last tick is not known.
  assert.throws(() => new flakeid.Generator({ node: 606 }), IN_USE);
});

test('a worker is refused a node of the main thread', async () => {
  const generator = new flakeid.Generator({ node: 607 });
  assert.equal((await inWorker({ node: 607 }, Date.now()))[0], IN_USE.code);
  const other = await inWorker({ node: 608 }, Date.now());
  assert.equal(new Set([...other, ...generator.nextIds(1000)]).size, 2000);
});

test('a worker that cannot see other instances needs the word of the program', () => {
  const program = `
    const { Worker } = require('node:worker_threads');
    const path = ${JSON.stringify(require.resolve('flakeid-core/wasm'))};
    for (const options of [{ node: 1 }, { node: 1, exclusive: true }]) {
      const workerData = { now: 1_800_000_000_000, options, path };
      const worker = new Worker(${JSON.stringify(WORKER)}, { eval: true, workerData });
      worker.once('message', ([first, second]) => console.log(typeof first, first, second));
    }
  `;
  const printed = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  assert.match(printed, /^string FLAKEID_INVALID_OPTION exclusive: missing: .* node 1,/m);
  assert.match(printed, /^bigint /m);
});
