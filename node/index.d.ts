/// <reference types="node" />

import type { FlakeIdError, Generator, Instant, LayoutInput } from './api';
import type { LeaseEvent, LeaseStatus } from './leases';

export * from './api';
export * from './leases';

/** Eight bytes, the most significant first. */
export function toBuffer(id: import('./api').IdInput): Buffer;
export function fromBuffer(buffer: Buffer): bigint;

/**
 * `gated` (default) is the system's clock, exact to the millisecond. Where possible it uses the
 * processor's counter, and reads the system's clock only a few times a millisecond. `system` is read for
 * every ID. `coarse` is up to 10 ms late.
 */
export type ClockName = 'system' | 'coarse' | 'gated';

/**
 * A generator's handle that reserves chunks of positions and needs no compare-and-swap for an ID.
 * Its own IDs strictly increase and no ID is issued twice, but they are not in order with those of
 * other handles or of the generator itself, and their times are up to one tick of the kernel's
 * coarse clock late, a few milliseconds; never ahead of the clock.
 *
 * A handle cannot leave its thread: each worker creates one from its own generator.
 */
export class LocalGenerator implements Iterable<bigint> {
  constructor(generator: Generator);
  /** Returns the next ID; waits and throws like `Generator.nextId`. */
  nextId(): bigint;
  /** Returns the next ID, and never waits. */
  tryNextId(): bigint;
  readonly generator: Generator;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
}

export interface BufferOptions {
  /** The largest number of IDs to generate at a time: 1 to 65536. Default: 256. */
  size?: number | bigint | undefined;
}

/**
 * A generator's handle that generates many IDs by one call and then returns them by plain reads, at a
 * fifth of the cost of a call: for loops that generate many IDs at once.
 *
 * - Its own IDs strictly increase (with `rollback: 'clock-sequence'` as far as the generator's do)
 *   and no ID is issued twice. They are not in order with those of other handles or of the
 *   generator itself.
 * - **Age:** an ID's time is the time at which its batch was generated. The rest of a batch is dropped
 *   at the next `await`, and at the latest before the event loop runs another callback, timer or I/O.
 *   So an ID is at most as old as the time for which code has run without either: usually less than a
 *   millisecond, but a second if the code blocks for a second between two IDs. The clock is not read in
 *   between, because that would cost more than a call.
 * - **Waste:** a batch begins with one ID and doubles up to `size`, so never more IDs are dropped
 *   than were used, nor more than `size` - 1. They count towards a tick's sequence.
 * - After `close` or `retire` of the generator, the handle returns no IDs.
 *
 * With an `await` between any two IDs it is slower than `Generator.nextId`.
 */
export class BufferedGenerator implements Iterable<bigint> {
  constructor(generator: Generator, options?: BufferOptions);
  /** Returns the next ID; waits and throws like `Generator.nextId` when it generates a batch. */
  nextId(): bigint;
  readonly size: number;
  readonly generator: Generator;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
}

export interface CachedOptions {
  // [options: ring fields except on_rejected_put on_rejected_take]
  /**
   * The power k of the ring's capacity, the IDs of 2^k full ticks: 0 to 20; at least 2 IDs and at
   * most 2^20. Default: 3.
   */
  boostPower?: number | bigint | undefined;
  /** The percentage of IDs below which the ring is refilled: 1 to 99. Default: 50. */
  paddingFactor?: number | bigint | undefined;
  /**
   * The interval at which the ring is refilled even if enough IDs are left, which keeps a seldom
   * used ring fresh, in milliseconds: at least 1 ms. Default: only when too few IDs are left.
   */
  refillIntervalMs?: number | bigint | undefined;
  /**
   * The largest age of an ID that the ring hands out, from the beginning of the ID's tick, in
   * milliseconds: at least two ticks. Older IDs are dropped and counted. Default: 1 s or two ticks,
   * whichever is longer.
   */
  maxAgeMs?: number | bigint | undefined;
  // [/options]
  /**
   * Called on the event loop with the reason when the generator refuses to refill the ring, except
   * for a full tick. It does not keep the process running. If it throws, that is an uncaught
   * exception.
   */
  onRejectedPut?: ((error: FlakeIdError) => void) | undefined;
  /**
   * Called with the error before `nextId` or `take` throws it, unless the generator or the ring was
   * closed. If it throws, that error is thrown instead.
   */
  onRejectedTake?: ((error: FlakeIdError) => void) | undefined;
}

/** The counts of a ring so far, or until `close`. */
export interface RingStats {
  /** The number of IDs in the ring. */
  readonly size: number;
  /** The number of IDs that callers took. */
  readonly taken: number;
  /** The number of IDs dropped because they were older than `maxAgeMs`. */
  readonly droppedStale: number;
  /** The number of refills that the generator refused for another reason than a full tick. */
  readonly rejectedPut: number;
  /** The number of calls that got no ID for another reason than a closed generator. */
  readonly rejectedTake: number;
  /** The number of portions put into the ring after it was first filled. */
  readonly refills: number;
}

/**
 * A ring buffer of IDs that a separate thread generates in advance, with a bound on their age. The
 * ring returns IDs in increasing order, and no ID twice. It cannot generate more IDs than the
 * generator, nor run ahead of the clock, unless the generator has a window and `overflow: 'borrow'`.
 * IDs taken from the generator directly are distinct from the ring's, but not in order with them.
 *
 * The thread does not keep the process running; it ends with `close`, or when the ring is no longer
 * reachable.
 */
export class CachedGenerator implements Iterable<bigint> {
  /**
   * Fills the ring, or throws the error that prevents this. One ID is used up to wait for the
   * generator's first tick, at most 10 ms; if ticks are longer, `await generator.nextIdAsync()` before.
   */
  constructor(generator: Generator, options?: CachedOptions);
  /**
   * Returns the next ID; waits for a refill for at most 10 ms (and `maxWaitMs`), and then throws the
   * error of the generator, or `FLAKEID_RING_EMPTY`.
   */
  nextId(): bigint;
  /** Returns the next ID of the ring, and never waits. */
  take(): bigint;
  /** The number of IDs that the ring can hold. */
  readonly capacity: number;
  stats(): RingStats;
  readonly generator: Generator;
  /** Ends the ring, not its generator, and waits for its thread, usually for at most 10 ms. */
  close(): void;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
  /** Closes the ring. */
  [Symbol.dispose](): void;
}

interface CommonLeaseOptions {
  // [options: lease fields except name node datacenter worker on_event]
  /**
   * The namespace to lease from: 1 to 64 of `A-Z a-z 0-9 . _ -`. Each namespace has one layout, and
   * nodes of its own. Default: `default`.
   */
  namespace?: string | undefined;
  /**
   * The range of nodes to choose from, both ends inclusive, as `[from, to]`. Default: all nodes of
   * the layout.
   */
  nodes?: readonly [from: number | bigint, to: number | bigint] | undefined;
  /**
   * The number of nodes to lease for this one generator, a power of two, for as many times the IDs
   * in a tick. Several nodes cannot be combined with `name`, `node` or `sequenceMask`. Default: 1.
   */
  nodeCount?: number | bigint | undefined;
  /**
   * The layout of the IDs, which must be the namespace's: the name of a preset or a descriptor; or
   * a `Layout`. Default: `twitter`.
   */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's. */
  epoch?: Instant | undefined;
  /**
   * The time after the last renewal until other processes can have the node, in milliseconds: 1 ms
   * to 30 days. Uniqueness does not depend on it. Default: 60 s or 12 ticks, whichever is longer.
   */
  ttlMs?: number | bigint | undefined;
  /**
   * The time for which the generator issues IDs while the store is away, in milliseconds: from two
   * ticks to what the namespace allows. Default: 10 s or two ticks, whichever is longer.
   */
  windowMs?: number | bigint | undefined;
  /** The behaviour when a tick is full. Default: `wait`. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** The behaviour when the clock goes backwards. Default: `continue`. */
  rollback?: 'continue' | 'error' | 'wait' | undefined;
  /** The largest sequence number to use: 2^k - 1. Default: the layout's. */
  sequenceMask?: number | bigint | undefined;
  /** The number of bits of a random sequence number with which each tick begins. Default: 0. */
  sequenceStart?: number | bigint | undefined;
  /**
   * The longest time that a call waits without issuing an ID, in milliseconds. Opening a lease
   * takes at most 2 s more, to connect. Default: 1 s or two ticks, whichever is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  /**
   * The clock: `gated` is the system's, exact, and read only a few times a millisecond where the
   * processor allows that; `system` is read for every ID; `coarse` is a few milliseconds late.
   * Default: `gated`.
   */
  clock?: ClockName | undefined;
  /**
   * Whether a node may be leased that was leased before. Otherwise each start uses up a node, until
   * none is left. Default: true.
   */
  reuse?: boolean | undefined;
  // [/options]
  /**
   * Called with each event of the lease. It does not keep the process running. If it throws, that is
   * an uncaught exception. A lease with a listener is not shared with other generators.
   */
  onEvent?: ((event: LeaseEvent) => void) | undefined;
}

/**
 * The node to lease: any node, preferably the same node each time if there is a name; or one node,
 * as a whole or as datacenter and worker.
 */
export type LeaseOptions = CommonLeaseOptions &
  (
    | { name?: string | undefined; node?: undefined; datacenter?: undefined; worker?: undefined }
    | { name?: undefined; node: number | bigint; datacenter?: undefined; worker?: undefined }
    | { name?: undefined; node?: undefined; datacenter: number | bigint; worker: number | bigint }
  );

declare module './api' {
  interface ClockChoices {
    /** The system's clocks by name. */
    named: ClockName;
  }
  interface NodeChoices {
    several: {
      node?: undefined;
      /**
       * Several nodes for one generator, for as many times the IDs per second; their number must be
       * a power of two. Cannot be combined with `sequenceMask` or clock sequences.
       */
      nodes: readonly (number | bigint)[];
      datacenter?: undefined;
      worker?: undefined;
    };
  }
  interface Generator {
    /** Returns a faster handle for this thread. Its IDs are not in order with those of other handles. */
    local(): LocalGenerator;
    /** Returns a handle for loops that generate many IDs at once. */
    buffered(options?: BufferOptions): BufferedGenerator;
    /** The state of the lease, if the node is leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * Returns a generator with a node leased from the store at a URL (`sqlite:///path/flakeid.db`,
     * `postgresql://`, `mysql://`, `redis://`, `etcd://`): its IDs are unique among all processes
     * that lease from that namespace. Generators of one process with equal options share one lease, even
     * in worker threads. Rejects with `FLAKEID_STORE_UNAVAILABLE`, `FLAKEID_STORE_REJECTED`,
     * `FLAKEID_NO_FREE_NODE`, `FLAKEID_CLOCK_SKEW`, `FLAKEID_FENCE_IN_FUTURE`, or with the code of an
     * option that is wrong.
     */
    function lease(url: string, options?: LeaseOptions): Promise<Generator>;
    /**
     * Leases like `lease`, from the store that `FLAKEID_STORE` names (default: this host's embedded
     * store), and from the namespace of the options or of `FLAKEID_NAMESPACE`. In a container,
     * `FLAKEID_STORE` must be set.
     */
    function auto(options?: LeaseOptions): Promise<Generator>;
  }
}
