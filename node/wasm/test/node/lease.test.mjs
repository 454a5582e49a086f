// Tests of leases from a real broker, with the module that supports leases.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import flakeid, { Generator } from 'flakeid-core/wasm';

import { Broker, TOKEN } from './broker.mjs';

// The IDs that were generated so far. Adding an ID again fails the test.
class Made {
  #ids = new Set();

  add(id) {
    assert.ok(!this.#ids.has(id), `${id} was issued twice`);
    this.#ids.add(id);
  }
}

// Repeats a call until it fails, and returns the error.
async function failureOf(call, made) {
  for (let turn = 0; turn < 600; turn += 1) {
    try {
      made.add(call());
    } catch (error) {
      return error;
    }
    await sleep(10);
  }
  throw new Error('the call never failed');
}

test('two generators issue distinct IDs, and close releases their nodes', {
  timeout: 30_000,
}, async (t) => {
  const broker = await Broker.start(t);
  const events = [];
  const generators = await Promise.all([
    Generator.lease(broker.url, { token: TOKEN, onEvent: (event) => events.push(event) }),
    Generator.lease(`http://:${TOKEN}@${broker.address}/`, { layout: 'twitter' }),
  ]);
  const [first, second] = generators;
  assert.notEqual(first.node, second.node);
  assert.equal(`${first.layout}`, `${second.layout}`);
  const made = new Made();
  for (let turn = 0; turn < 40; turn += 1) {
    for (const generator of generators) {
      made.add(generator.nextId());
      for (const id of generator.nextIds(100)) made.add(id);
    }
    await sleep(50);
  }
  for (const id of await first.nextIdsAsync(20_000)) made.add(id);
  const { lease } = first;
  // The test lasts two seconds, which is longer than the window.
  assert.ok(lease.renewals >= 2 && lease.grants === 1 && !lease.fencedOff, `${lease.renewals}`);
  assert.ok(lease.fence > lease.start && lease.fenceTime.getTime() > Date.now());
  assert.equal(lease.lastError, undefined);
  assert.throws(() => first.retire(), { code: 'FLAKEID_INVALID_OPTION' });
  assert.throws(() => first.extend(1), { code: 'FLAKEID_INVALID_OPTION' });
  const { node } = first;
  assert.equal(await broker.stateOf(node), 'held');
  await Promise.all(generators.map((generator) => generator.close()));
  assert.equal(await broker.stateOf(node), 'free');
  assert.throws(() => first.nextId(), { code: 'FLAKEID_CLOSED' });
  await assert.rejects(first.nextIdAsync(), { code: 'FLAKEID_CLOSED' });
  await first.close();
  const kinds = events.map(({ kind }) => kind);
  assert.equal(kinds[0], 'acquired');
  assert.equal(kinds.at(-1), 'released');
  assert.ok(kinds.includes('renewed'));
});

test('a lease continues after a broker is killed and restarted', { timeout: 30_000 }, async (t) => {
  const broker = await Broker.start(t);
  const made = new Made();
  const events = [];
  const onEvent = ({ kind }) => events.push(kind);
  const options = { token: TOKEN, maxWaitMs: 8000, onEvent };
  const generator = await Generator.lease(broker.url, options);
  t.after(() => generator.close());
  const { node } = generator;
  made.add(generator.nextId());
  await broker.kill();
  // The generator issues IDs until the end of the window without a broker.
  made.add(generator.nextId());
  const failure = await failureOf(() => generator.nextId(), made);
  assert.equal(failure.code, 'FLAKEID_LEASE_EXPIRED');
  assert.ok(failure.retryAfterMs > 0);
  assert.throws(() => generator.tryNextId(), { code: 'FLAKEID_LEASE_EXPIRED' });
  await broker.run(broker.address);
  // The grants of the broker's earlier run are lost, so the lease continues with another node.
  made.add(await generator.nextIdAsync());
  for (const id of generator.nextIds(1000)) made.add(id);
  assert.ok(events.includes('store-lost') && events.includes('fenced-off'), `${events}`);
  assert.equal(generator.lease.grants, 2);
  t.diagnostic(`node ${node}, then ${generator.node}`);
});

test('a lease recovers after a broker stops for too long', { timeout: 30_000 }, async (t) => {
  const broker = await Broker.start(t);
  const made = new Made();
  const options = { token: TOKEN, maxWaitMs: 200 };
  const generator = await Generator.lease(broker.url, options);
  t.after(() => generator.close());
  made.add(generator.nextId());
  broker.pause();
  const failure = await failureOf(() => generator.nextId(), made);
  assert.equal(failure.code, 'FLAKEID_LEASE_EXPIRED');
  await assert.rejects(generator.nextIdAsync(), { code: 'FLAKEID_LEASE_EXPIRED' });
  assert.throws(() => generator.fill(new BigUint64Array(3)), { code: 'FLAKEID_LEASE_EXPIRED' });
  broker.goOn();
  for (let turn = 0; turn < 20; turn += 1) {
    try {
      made.add(await generator.nextIdAsync());
      break;
    } catch (error) {
      assert.equal(error.code, 'FLAKEID_LEASE_EXPIRED');
    }
  }
  made.add(generator.nextId());
});

test('a lease uses another broker if one cannot be reached', { timeout: 30_000 }, async (t) => {
  const broker = await Broker.start(t);
  const url = `http://127.0.0.1:1,${broker.address}/`;
  const leased = await Promise.all([1, 2, 3, 4].map(() => Generator.lease(url, { token: TOKEN })));
  assert.equal(new Set(leased.map(({ node }) => node)).size, 4);
  await Promise.all(leased.map((generator) => generator.close()));
});

test('lease rejects requests that cannot be granted', { timeout: 30_000 }, async (t) => {
  const broker = await Broker.start(t);
  const { url } = broker;
  const refused = async (address, options, code, said) => {
    await assert.rejects(Generator.lease(address, options), (error) => {
      assert.ok(error instanceof flakeid.FlakeIdError, `${error.stack}`);
      assert.equal(error.code, code);
      assert.match(error.message, said);
      return true;
    });
  };
  const token = TOKEN;
  await refused(url, {}, 'FLAKEID_STORE_REJECTED', /token/);
  await refused(url, { token: 'another-token-of-16' }, 'FLAKEID_STORE_REJECTED', /token/);
  await refused(url, { token, namespace: 'none' }, 'FLAKEID_STORE_REJECTED', /no namespace "none"/);
  await refused(url, { token, layout: 'plain' }, 'FLAKEID_STORE_REJECTED', /layout/);
  await refused(url, { token, node: 3 }, 'FLAKEID_INVALID_OPTION', /node: no such option/);
  await refused(url, { token, nodes: [1, 2] }, 'FLAKEID_INVALID_OPTION', /nodes: no such option/);
  await refused(url, { token, namespace: '/' }, 'FLAKEID_INVALID_OPTION', /namespace/);
  await refused(url, { token: 'a b' }, 'FLAKEID_INVALID_OPTION', /token/);
  const nobody = { token, maxWaitMs: 100 };
  await refused('http://127.0.0.1:1', nobody, 'FLAKEID_STORE_UNAVAILABLE', /127\.0\.0\.1:1/);
  await assert.rejects(Generator.lease(7), { code: 'ERR_INVALID_ARG_TYPE' });
  const name = { token, name: 'orders' };
  const named = await Generator.lease(url, name);
  const { node } = named;
  await named.close();
  const again = await Generator.lease(url, name);
  assert.equal(again.node, node);
  // A copied object is not a generator: each worker leases its own node.
  assert.equal(structuredClone(again).nextId, undefined);
  await again[Symbol.asyncDispose ?? 'close']?.();
  assert.throws(() => again.nextId(), { code: 'FLAKEID_CLOSED' });
});

test('the example of the guide runs', { timeout: 30_000 }, async (t) => {
  const broker = await Broker.start(t);
  const example = readFileSync(`${process.env.FLAKEID_ROOT}/examples/lease_wasm.mjs`, 'utf8');
  const url = 'http://localhost:7117';
  assert.ok(example.includes(url));
  const file = new URL('example.mjs', import.meta.url);
  const program = example.replace(url, `http://:${TOKEN}@${broker.address}`);
  writeFileSync(file, program.replace("'flakeid-core'", "'flakeid-core/wasm'"));
  const { stdout } = await promisify(execFile)(process.execPath, [file.pathname]);
  assert.match(stdout, /^node \d+\n\d+n\n\d+n\n$/);
});
