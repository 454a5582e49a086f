// Tests of the types: this file is compiled, but never run.

import type { Decoded, ErrorCode, GeneratorOptions, IdInput, Parts, Stats } from 'flakeid-core';
import {
  FlakeIdError,
  Generator,
  Layout,
  ManualClock,
  decode,
  fromBase62,
  fromBytes,
  jsonReplacer,
  jsonReviver,
  lowerBound,
  toBase62,
  toBytes,
  upperBound,
  version,
} from 'flakeid-core';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function exactly<A, B>(same: Same<A, B>): void;

// Generators
const generator = new Generator({ node: 7 });
new Generator({
  node: 7n,
  layout: 'js-safe',
  epoch: new Date(),
  overflow: 'wait',
  rollback: 'continue',
});
new Generator({
  datacenter: 17,
  worker: 25,
  layout: Layout.parse('twitter'),
  clock: new ManualClock(0),
});
new Generator({
  node: 1,
  layout: 't42.n8.s13@0/5ms',
  window: { start: 1, fence: 10n },
  overflow: 'borrow',
});
new Generator({ node: 1, sequenceMask: 255, sequenceStart: 4, maxAheadMs: 5, maxWaitMs: 100n });
const options: GeneratorOptions = { node: 1, rollback: 'clock-sequence' };
new Generator(options);
// @ts-expect-error a node is needed
new Generator({});
// @ts-expect-error options are needed
new Generator();
// @ts-expect-error not both kinds of node
new Generator({ node: 1, datacenter: 1, worker: 1 });
// @ts-expect-error half a node
new Generator({ datacenter: 1 });
// @ts-expect-error a node is a number
new Generator({ node: '7' });
// @ts-expect-error no such policy
new Generator({ node: 1, overflow: 'never' });
// @ts-expect-error no such policy
new Generator({ node: 1, rollback: 'ignore' });
// @ts-expect-error no such option
new Generator({ node: 1, nodes: 1 });
// @ts-expect-error durations end in Ms
new Generator({ node: 1, maxWait: 5 });
// @ts-expect-error half a window
new Generator({ node: 1, window: { start: 1 } });
// @ts-expect-error a clock is a ManualClock
new Generator({ node: 1, clock: Date });

exactly<bigint, ReturnType<typeof generator.nextId>>(true);
exactly<bigint, ReturnType<typeof generator.tryNextId>>(true);
exactly<number, ReturnType<typeof generator.nextNumber>>(true);
exactly<bigint[], ReturnType<typeof generator.nextIds>>(true);
exactly<Promise<bigint>, ReturnType<typeof generator.nextIdAsync>>(true);
exactly<Promise<bigint[]>, ReturnType<typeof generator.nextIdsAsync>>(true);
exactly<bigint | null, ReturnType<typeof generator.retire>>(true);
exactly<Stats, ReturnType<typeof generator.stats>>(true);
exactly<number, typeof generator.node>(true);
exactly<Layout, typeof generator.layout>(true);
const filled: number =
  generator.fill(new BigUint64Array(3)) + generator.tryFill(new BigInt64Array(filled0()));
function filled0(): number {
  return 1;
}
// @ts-expect-error not an array of 64-bit integers
generator.fill(new Float64Array(3));
// @ts-expect-error not a list
generator.fill([1n]);
// @ts-expect-error read-only
generator.node = filled;
for (const id of generator) exactly<bigint, typeof id>(true);
generator.extend(5n);
generator[Symbol.dispose]();
exactly<Promise<void>, ReturnType<typeof generator.close>>(true);
export async function scoped(): Promise<bigint> {
  await using closed = new Generator({ node: 1 });
  using retired = new Generator({ node: 2 });
  return closed.nextId() + retired.nextId();
}

// IDs
exactly<bigint | string, IdInput>(true);
const id = generator.nextId();
exactly<string, ReturnType<typeof toBase62>>(true);
toBase62(id);
toBase62('910499571847892992');
// @ts-expect-error a number is no ID
toBase62(1);
// @ts-expect-error a number is no ID
decode(1);
// @ts-expect-error texts are strings
fromBase62(1n);
exactly<bigint, ReturnType<typeof fromBase62>>(true);
exactly<Uint8Array, ReturnType<typeof toBytes>>(true);
exactly<bigint, ReturnType<typeof fromBytes>>(true);

// Parts
const decoded: Decoded = decode(id, 'twitter');
exactly<Date, typeof decoded.timestamp>(true);
exactly<number, typeof decoded.unixMs>(true);
exactly<number, typeof decoded.node>(true);
exactly<bigint, typeof decoded.tick>(true);
exactly<number | undefined, typeof decoded.datacenter>(true);
// @ts-expect-error frozen
decoded.node = 5;
decode(id, Layout.parse('plain'));
// @ts-expect-error not a layout
decode(id, 5);

// Layouts
const layout = new Layout('t41.n10.s12@0/1ms');
const parts: Parts = layout.unpack(id);
exactly<bigint, typeof parts.node>(true);
exactly<bigint, typeof layout.maxNode>(true);
exactly<bigint, ReturnType<typeof layout.pack>>(true);
layout.pack({ tick: 1n, node: 1, sequence: 5 });
layout.pack({ ...parts });
// @ts-expect-error texts are no parts
layout.pack({ tick: '1' });
// @ts-expect-error read-only
layout.epoch = 5n;

// Bounds
exactly<bigint, ReturnType<typeof lowerBound>>(true);
lowerBound(new Date());
upperBound(Date.now(), 'discord');
upperBound(1n, layout);
// @ts-expect-error not an instant
lowerBound('2026-01-01');

// Errors
try {
  generator.nextId();
} catch (error) {
  if (error instanceof FlakeIdError) {
    exactly<ErrorCode, typeof error.code>(true);
    exactly<number | undefined, typeof error.retryAfterMs>(true);
    // @ts-expect-error no such code
    if (error.code === 'FLAKEID_NOPE') throw error;
  }
}
// @ts-expect-error only the library makes them
new FlakeIdError('FLAKEID_CLOSED', 'x');

JSON.parse(JSON.stringify({ id }, jsonReplacer), jsonReviver('id'));
exactly<string, typeof version>(true);
