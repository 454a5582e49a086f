// Tests of the types of clocks by name, several nodes, and the handles that only the native package
// has: this file is compiled, but never run.

import type {
  BufferOptions,
  CachedOptions,
  ClockName,
  FlakeIdError,
  RingStats,
} from 'flakeid-core';
import {
  BufferedGenerator,
  CachedGenerator,
  Generator,
  LocalGenerator,
  ManualClock,
} from 'flakeid-core';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function exactly<A, B>(same: Same<A, B>): void;

// Options
const clock: ClockName = 'coarse';
const generator = new Generator({ node: 7, clock });
new Generator({ node: 7, clock: new ManualClock(0) });
new Generator({ nodes: [1, 2n, 3, 4], clock: 'gated' });
exactly<number[], typeof generator.nodes>(true);
// @ts-expect-error no such clock
new Generator({ node: 7, clock: 'sundial' });
// @ts-expect-error not both
new Generator({ node: 7, nodes: [7, 8] });
// @ts-expect-error nodes are numbers
new Generator({ nodes: ['7'] });

// Local handles
const local = generator.local();
exactly<LocalGenerator, typeof local>(true);
exactly<bigint, ReturnType<typeof local.nextId>>(true);
exactly<bigint, ReturnType<typeof local.tryNextId>>(true);
exactly<Generator, typeof local.generator>(true);
new LocalGenerator(generator);
// @ts-expect-error a generator is needed
new LocalGenerator({ node: 1 });
for (const id of local) exactly<bigint, typeof id>(true);

// Buffered handles
const options: BufferOptions = { size: 1024n };
const buffered = generator.buffered(options);
exactly<BufferedGenerator, typeof buffered>(true);
exactly<bigint, ReturnType<typeof buffered.nextId>>(true);
exactly<number, typeof buffered.size>(true);
new BufferedGenerator(generator, { size: 16 });
generator.buffered();
// @ts-expect-error a size is a number
generator.buffered({ size: '16' });
// @ts-expect-error the size is in an object
generator.buffered(16);
// @ts-expect-error it always may wait
buffered.tryNextId();

// Rings
const handlers: CachedOptions = {
  onRejectedPut: (error: FlakeIdError) => error.code,
  onRejectedTake: () => undefined,
};
using cached = new CachedGenerator(generator, {
  boostPower: 2,
  paddingFactor: 25n,
  refillIntervalMs: 10,
  maxAgeMs: 500,
  ...handlers,
});
exactly<bigint, ReturnType<typeof cached.take>>(true);
exactly<bigint, ReturnType<typeof cached.nextId>>(true);
exactly<RingStats, ReturnType<typeof cached.stats>>(true);
exactly<number, typeof cached.capacity>(true);
exactly<void, ReturnType<typeof cached.close>>(true);
new CachedGenerator(generator);
// @ts-expect-error a generator is needed
new CachedGenerator({ boostPower: 3 });
// @ts-expect-error durations end in Ms
new CachedGenerator(generator, { maxAge: 5 });
// @ts-expect-error not a function
new CachedGenerator(generator, { onRejectedPut: 'log' });
