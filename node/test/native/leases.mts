// Tests of the types of leases, which only the native package has: this file is compiled, but never
// run.

import type { LeaseEvent, LeaseOptions, LeaseStatus } from 'flakeid-core';
import flakeid, { FlakeIdError, Generator, Layout, ManualClock } from 'flakeid-core';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function exactly<A, B>(same: Same<A, B>): void;

const url = 'sqlite:///tmp/flakeid.db';

await using generator = await Generator.lease(url);
exactly<bigint, ReturnType<typeof generator.nextId>>(true);
exactly<Generator, Awaited<ReturnType<typeof Generator.lease>>>(true);
exactly<Generator, Awaited<ReturnType<typeof Generator.auto>>>(true);
exactly<LeaseStatus | undefined, typeof generator.lease>(true);
await generator.close();
await flakeid.Generator.auto();

// Options
await Generator.lease(url, {
  namespace: 'orders',
  nodes: [0, 15n],
  layout: 'plain',
  epoch: new Date(),
});
await Generator.lease(url, {
  name: 'orders-3',
  ttlMs: 60_000,
  windowMs: 10_000n,
  maxWaitMs: 500,
  reuse: false,
});
await Generator.lease(url, {
  node: 7,
  overflow: 'borrow',
  rollback: 'wait',
  sequenceMask: 255,
  sequenceStart: 4n,
});
await Generator.auto({ datacenter: 1, worker: 2n, layout: Layout.parse('twitter') });
const options: LeaseOptions = { name: 'a', onEvent: (event: LeaseEvent) => event.kind };
await Generator.lease(url, options);
// @ts-expect-error a URL is needed
await Generator.lease();
// @ts-expect-error a URL is a string
await Generator.lease(new URL(url));
// @ts-expect-error not both
await Generator.lease(url, { name: 'a', node: 1 });
// @ts-expect-error half a node
await Generator.lease(url, { datacenter: 1 });
// @ts-expect-error a node is a number
await Generator.lease(url, { node: '7' });
// @ts-expect-error from and to
await Generator.lease(url, { nodes: [1] });
// @ts-expect-error durations end in Ms
await Generator.lease(url, { ttl: 5 });
await Generator.lease(url, { clock: 'coarse', nodeCount: 4 });
// @ts-expect-error the clock is one of the system's
await Generator.lease(url, { clock: new ManualClock(0) });
// @ts-expect-error the window is what the lease is for
await Generator.lease(url, { window: { start: 1, fence: 2 } });
// @ts-expect-error no such policy
await Generator.lease(url, { overflow: 'never' });
// @ts-expect-error not a function
await Generator.lease(url, { onEvent: 'log' });
// @ts-expect-error a fixed node needs no promise
await new Generator();

// Status
const status: LeaseStatus | undefined = generator.lease;
if (status !== undefined) {
  exactly<bigint, typeof status.fence>(true);
  exactly<Date, typeof status.fenceTime>(true);
  exactly<number, typeof status.expiresInMs>(true);
  exactly<FlakeIdError | undefined, typeof status.lastError>(true);
  // @ts-expect-error read-only
  status.fence = 5n;
}
// @ts-expect-error read-only
generator.lease = undefined;

// Events
await Generator.lease(url, {
  onEvent(event) {
    if (event.kind === 'acquired') exactly<bigint, typeof event.start>(true);
    if (event.kind === 'store-lost') exactly<FlakeIdError, typeof event.error>(true);
    // @ts-expect-error not of every event
    String(event.node);
    // @ts-expect-error no such event
    if (event.kind === 'expired') throw new Error('no such event');
  },
});
