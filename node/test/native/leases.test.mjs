// Tests of generators with a leased node.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import flakeid from '../subject.mjs';
import { failure } from '../vectors.mjs';
import { assertUnique, storeDirectory, urlOf } from './store.mjs';

const { CachedGenerator, FlakeIdError, Generator, decode } = flakeid;
const url = urlOf(storeDirectory());

// Returns the error of a refused lease.
async function refusal(options, store = url) {
  try {
    await Generator.lease(store, options);
  } catch (error) {
    return error;
  }
  return assert.fail('it was leased');
}

test('all methods issue IDs of the leased node', async () => {
  const generator = await Generator.lease(url, { namespace: 'ways' });
  assert.ok(generator instanceof Generator);
  const ids = [generator.nextId(), generator.tryNextId(), ...generator.nextIds(1000)];
  const array = new BigUint64Array(1000);
  assert.equal(generator.fill(array.subarray(0, 500)), 500);
  assert.ok(generator.tryFill(new BigInt64Array(array.buffer, 500 * 8, 1)) === 1);
  ids.push(...array.subarray(0, 501));
  ids.push(await generator.nextIdAsync(), ...(await generator.nextIdsAsync(1000)));
  for (const id of generator) {
    ids.push(id);
    if (ids.length >= 3600) break;
  }
  for (let index = 1; index < ids.length; index += 1) assert.ok(ids[index] > ids[index - 1]);
  assert.equal(decode(ids[0]).node, generator.node);
  assert.equal(generator.layout.presetName, 'twitter');
  assert.equal(generator.stats().rollbacks, 0);
  await generator.close();

  const exact = await Generator.lease(url, { namespace: 'exact', layout: 'js-safe' });
  assert.ok(Number.isSafeInteger(exact.nextNumber()));
  await exact.close();
});

test('the lease exposes its state', async () => {
  const before = Date.now();
  const generator = await Generator.lease(url, {
    namespace: 'stands',
    ttlMs: 30_000,
    windowMs: 5000,
  });
  const { lease } = generator;
  const tick = decode(generator.nextId()).tick;
  assert.ok(lease.start <= tick && tick < lease.fence);
  assert.equal(lease.fence - lease.start, 5000n);
  assert.equal(lease.fenceTime.getTime(), Number(lease.fence + generator.layout.epoch));
  assert.ok(lease.expires.getTime() >= before + 30_000);
  assert.ok(lease.expiresInMs > 0 && lease.expiresInMs <= 30_000);
  const { renewals, grants, failures, fencedOff, lastError } = lease;
  assert.deepEqual(
    { grants, failures, fencedOff, lastError },
    { grants: 1, failures: 0, fencedOff: false, lastError: undefined },
  );
  assert.ok(Object.isFrozen(lease));
  while (generator.lease.renewals === renewals) await pause(20);
  assert.ok(generator.lease.fence > lease.fence);
  await generator.close();
  assert.ok(generator.lease.renewals > renewals, 'the lease keeps its last state after close');
  assert.equal(new Generator({ node: 1 }).lease, undefined);
});

test('only generators with equal options share a lease', async () => {
  const options = { namespace: 'shared', nodes: [3, 9] };
  const [one, two] = await Promise.all([
    Generator.lease(url, options),
    Generator.lease(url, options),
  ]);
  const other = await Generator.lease(url, { ...options, maxWaitMs: 2000 });
  assert.deepEqual([one.node, two.node, other.node].sort(), [3, 3, 4]);
  const ids = new BigUint64Array(3000);
  for (let index = 0; index < ids.length; index += 1)
    ids[index] = [one, two, other][index % 3].nextId();
  assertUnique(ids);
  await one.close();
  assert.equal(decode(two.nextId()).node, two.node);
  await Promise.all([two.close(), other.close()]);
});

test('leases support names, fixed nodes and nodes that are used once', async () => {
  const options = { namespace: 'identities', name: 'orders-3', nodes: [5, 1023] };
  const named = await Generator.lease(url, options);
  const { node } = named;
  await named.close();
  const again = await Generator.lease(url, options);
  assert.equal(again.node, node);
  const fixed = await Generator.lease(url, {
    namespace: 'identities',
    datacenter: 17,
    worker: 25n,
  });
  assert.equal(fixed.node, 569);
  const disposable = { namespace: 'disposable', nodes: [1, 2n], reuse: false };
  for (const expected of [1, 2]) {
    const generator = await Generator.lease(url, disposable);
    assert.equal(generator.node, expected);
    await generator.close();
  }
  assert.equal((await refusal(disposable)).code, 'FLAKEID_NO_FREE_NODE');
  await Promise.all([again.close(), fixed.close()]);
});

test('a closed generator releases its node', async () => {
  const generator = await Generator.lease(url, { namespace: 'closed', node: 4 });
  await generator.nextIdAsync();
  const running = generator.nextIdsAsync(100_000);
  const closing = generator.close();
  // These calls fail at once, regardless of the time that the store takes.
  for (const call of [
    () => generator.nextId(),
    () => generator.tryNextId(),
    () => generator.nextIds(1),
    () => generator.fill(new BigUint64Array(1)),
  ]) {
    assert.equal(failure(call, 'it is closed').code, 'FLAKEID_CLOSED');
  }
  await assert.rejects(generator.nextIdAsync(), { code: 'FLAKEID_CLOSED' });
  await Promise.all([closing, generator.close()]);
  const { length } = await running;
  assert.ok(length > 0 && length < 100_000, `a running call returned ${length} IDs`);
  assert.equal(generator.node, 4);
  assert.ok(generator.stats().waits >= 0);
  // The node was released: it can be leased before its lease would have expired.
  const next = await Generator.lease(url, { namespace: 'closed', node: 4 });
  if (Symbol.asyncDispose === undefined) await next.close();
  else await next[Symbol.asyncDispose]();
  const last = await Generator.lease(url, { namespace: 'closed', node: 4 });
  last[Symbol.dispose ?? 'close']();
  assert.throws(() => last.nextId(), { code: 'FLAKEID_CLOSED' });
  await last.close();
});

test('close ends local handles and rings, even if another generator shares the lease', async () => {
  const options = { namespace: 'handles', node: 6 };
  const closed = await Generator.lease(url, options);
  const other = await Generator.lease(url, options);
  assert.equal(closed.lease.start, other.lease.start, 'one lease');
  const local = closed.local();
  // This call precedes the opening of the ring, because the ring may use up the tick.
  local.nextId();
  const ring = new CachedGenerator(closed);
  ring.nextId();
  const closing = closed.close();
  const refused = () => {
    for (const call of [
      () => local.nextId(),
      () => local.tryNextId(),
      () => ring.nextId(),
      () => ring.take(),
      () => closed.nextId(),
    ]) {
      assert.throws(call, { code: 'FLAKEID_CLOSED' });
    }
  };
  refused();
  // The ring may have used up the tick, which is longer than a call on the event loop waits.
  await other.nextIdAsync();
  await closing;
  refused();
  await other.nextIdAsync();
  ring.close();
  await other.close();
});

test('a leased generator rejects retire and extend', async () => {
  const generator = await Generator.lease(url, { namespace: 'ends' });
  for (const call of [() => generator.retire(), () => generator.extend(5n)]) {
    assert.throws(call, { code: 'FLAKEID_INVALID_OPTION' });
  }
  generator.nextId();
  await generator.close();
  const fixed = new Generator({ node: 900 });
  await fixed.close();
  await fixed.close();
  assert.throws(() => fixed.nextId(), { code: 'FLAKEID_CLOSED' });
});

test('events are reported in order', async () => {
  const events = [];
  const onEvent = (event) => events.push(event);
  const generator = await Generator.lease(url, { namespace: 'events', windowMs: 1000, onEvent });
  const { node, lease } = generator;
  while (!events.some((event) => event.kind === 'renewed')) await pause(20);
  await generator.close();
  while (!events.some((event) => event.kind === 'released')) await pause(20);
  assert.deepEqual(events[0], { kind: 'acquired', node, start: lease.start, fence: lease.fence });
  const renewed = events.find((event) => event.kind === 'renewed');
  assert.equal(renewed.node, node);
  assert.ok(renewed.fence > lease.fence);
  assert.deepEqual(events.at(-1), { kind: 'released', node });
});

test('a lease issues IDs until the end of the window without a store', async () => {
  const directory = storeDirectory();
  const events = [];
  const generator = await Generator.lease(urlOf(directory), {
    windowMs: 600,
    maxWaitMs: 300,
    onEvent: (event) => events.push(event),
  });
  rmSync(directory, { recursive: true });
  let last = generator.nextId();
  let error;
  while (error === undefined) {
    await pause(1);
    const start = Date.now();
    try {
      const id = generator.nextId();
      assert.ok(id > last);
      last = id;
    } catch (thrown) {
      error = thrown;
    }
    assert.ok(Date.now() - start < 500, 'the call blocked the event loop');
  }
  assert.equal(error.code, 'FLAKEID_LEASE_EXPIRED');
  await assert.rejects(generator.nextIdAsync(), { code: 'FLAKEID_LEASE_EXPIRED' });
  const { lease } = generator;
  assert.ok(lease.failures > 0 && lease.lastError instanceof FlakeIdError);
  assert.ok(decode(last).tick < lease.fence);
  assert.ok(
    events.some(
      (event) =>
        event.error instanceof FlakeIdError && ['refused', 'store-lost'].includes(event.kind),
    ),
  );
  await generator.close();
});

test('errors of a lease contain the reason', async () => {
  const codes = {
    FLAKEID_INVALID_OPTION: [
      [{}, 'nope://host'],
      [{}, 'flakeid.db'],
      [{ node: 1, name: 'a' }],
      [{ datacenter: 1 }],
      [{ name: '' }],
      [{ namespace: 'a b' }],
      [{ overflow: 'never' }],
      [{ clock: 'sundial' }],
      [{ nodeCount: 3 }],
      [{ window: 1 }],
      [{ ttl: 1 }],
    ],
    FLAKEID_FIELD_OUT_OF_RANGE: [
      [{ node: 1024 }],
      [{ node: -1 }],
      [{ nodes: [5, 4] }],
      [{ nodes: [0, 2n ** 70n] }],
      [{ ttlMs: 0 }],
      [{ windowMs: 1 }],
      [{ windowMs: 2n ** 64n }],
      [{ maxWaitMs: -1 }],
      [{ nodeCount: -1 }],
      [{ sequenceStart: 300 }],
    ],
    FLAKEID_INVALID_LAYOUT: [[{ layout: 'nope' }]],
    FLAKEID_HORIZON_REACHED: [[{ layout: 'baidu', namespace: 'horizon' }]],
    FLAKEID_STORE_REJECTED: [[{}, 'sqlite:///nonexistent/flakeid.db']],
  };
  for (const [code, cases] of Object.entries(codes)) {
    for (const [options, store] of cases) {
      const error = await refusal(options, store);
      assert.ok(error instanceof FlakeIdError, `${error}`);
      assert.equal(error.code, code, error.message);
    }
  }
});

test('wrong types raise TypeErrors that contain the argument', async () => {
  const wrong = [
    ['url', undefined, 5],
    ['options', 5],
    ['options', null],
    ['node', { node: '7' }],
    ['node', { node: 1.5 }],
    ['nodes', { nodes: 7 }],
    ['nodes', { nodes: [1] }],
    ['nodes[1]', { nodes: [1, '2'] }],
    ['reuse', { reuse: 1 }],
    ['name', { name: 7 }],
    ['namespace', { namespace: null }],
    ['ttlMs', { ttlMs: '60s' }],
    ['layout', { layout: 7 }],
    ['clock', { clock: 1 }],
    ['nodeCount', { nodeCount: '2' }],
    ['onEvent', { onEvent: 'log' }],
  ];
  for (const [name, options, store] of wrong) {
    const error = await refusal(options, store);
    assert.ok(error instanceof TypeError, `${error}`);
    assert.equal(error.code, 'ERR_INVALID_ARG_TYPE');
    assert.ok(error.message.startsWith(`${name} must be`), error.message);
  }
});

test('a lease rejects another layout in the same namespace', async () => {
  const generator = await Generator.lease(url, { namespace: 'layouts' });
  const error = await refusal({ namespace: 'layouts', layout: 'plain' });
  assert.equal(error.code, 'FLAKEID_STORE_REJECTED');
  assert.match(error.message, /t41\.d5\.w5\.s12/);
  await generator.close();
});

test('errors of unreachable stores do not contain the password', async () => {
  for (const [scheme, path] of Object.entries({
    postgresql: '/db',
    mysql: '/db',
    redis: '/0',
    etcd: '',
  })) {
    const start = Date.now();
    const error = await refusal(
      { maxWaitMs: 200 },
      `${scheme}://someone:secret@127.0.0.1:1${path}`,
    );
    assert.equal(error.code, 'FLAKEID_STORE_UNAVAILABLE', `${scheme}: ${error.message}`);
    assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes('secret'), error.message);
    // The limit allows for the wait, 2 s to connect, and a busy machine.
    assert.ok(Date.now() - start < 12_000, `${scheme}: ${Date.now() - start} ms`);
  }
});

test('auto uses the store of the environment', async () => {
  process.env.FLAKEID_STORE = url;
  process.env.FLAKEID_NAMESPACE = 'automatic';
  const generator = await Generator.auto();
  const same = await Generator.lease(url, { namespace: 'automatic' });
  assert.equal(generator.node, same.node);
  delete process.env.FLAKEID_STORE;
  delete process.env.FLAKEID_NAMESPACE;
  await Promise.all([generator.close(), same.close()]);
});

test('lease waits while the store grants nothing', async () => {
  const url = urlOf(storeDirectory());
  await flakeid.createNamespace(url, 'late', { maxWindowMs: 1000, maxSkewMs: 100, quietMs: 3000 });
  // Without this file, the store cannot exclude that it was restored.
  rmSync(`${url.slice('sqlite://'.length)}-serial`);
  const options = { namespace: 'late', windowMs: 1000, maxWaitMs: 1 };
  const refused = { code: 'FLAKEID_FENCE_IN_FUTURE', message: /grants again/ };
  await assert.rejects(Generator.lease(url, { ...options, openWaitMs: 0 }), refused);
  const generator = await Generator.lease(url, options);
  assert.ok(generator.nextId() > 0n);
  await generator.close();
});

test('createNamespace succeeds again only with the same layout and options', async () => {
  const { createNamespace } = flakeid;
  const options = { layout: 'sonyflake', maxWindowMs: 60_000, history: false };
  for (const given of [options, options, { layout: 'sonyflake' }]) {
    assert.equal(await createNamespace(url, 'created', given), 0);
  }
  const lease = { namespace: 'created', layout: 'sonyflake', windowMs: 60_000 };
  const generator = await Generator.lease(url, lease);
  assert.ok(generator.nextId() > 0n);
  await generator.close();
  for (const [given, code, message] of [
    [{ ...options, maxWindowMs: 1000 }, 'INVALID_OPTION', /^maxWindowMs: is 1000 ms, but/],
    [{ ...options, history: true }, 'INVALID_OPTION', /^history: .* without a history/],
    [{}, 'STORE_REJECTED', /is for the layout/],
    [{ layout: 'sonyflake', maxSkewMs: 0 }, 'FIELD_OUT_OF_RANGE', /^maxSkewMs 0 is out of range/],
    [{ windowMs: 1 }, 'INVALID_OPTION', /^windowMs: no such option/],
  ]) {
    const error = { code: `FLAKEID_${code}`, message };
    await assert.rejects(createNamespace(url, 'created', given), error);
  }
  await assert.rejects(createNamespace('jdbc:postgresql://db/app', 'created'), /write postgresql:/);
  await assert.rejects(createNamespace('sqlite://i\0ds.db', 'created'), /a control character/);
  await assert.rejects(createNamespace(url), TypeError);
});
