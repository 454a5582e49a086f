/// <reference types="node" />

import type { FlakeIdError, Generator, Instant, LayoutInput } from './api';
import type { LeaseEvent, LeaseStatus } from './leases';

export * from './api';
export * from './leases';

/** Eight bytes, the most significant first. */
export function toBuffer(id: import('./api').IdInput): Buffer;
export function fromBuffer(buffer: Buffer): bigint;

/**
 * `gated` (default) is the system's clock, exact to the millisecond; it asks the processor's counter
 * first, where it can, and is read anew a few times a millisecond. `system` is read for every ID. `coarse`
 * is up to 10 ms late.
 */
export type ClockName = 'system' | 'coarse' | 'gated';

/**
 * A generator's handle that reserves blocks of positions and needs no compare-and-swap for an ID.
 * Its own IDs strictly increase and no ID is issued twice, but they are not in order with those of
 * other handles or of the generator itself, and their times are up to one tick of the kernel's
 * coarse clock late, a few milliseconds; never ahead of the clock.
 *
 * It stays in its thread: each worker takes one from its own generator.
 */
export class LocalGenerator implements Iterable<bigint> {
  constructor(generator: Generator);
  /** The next ID; waits and throws as `Generator.nextId`. */
  nextId(): bigint;
  /** The next ID, without ever waiting. */
  tryNextId(): bigint;
  readonly generator: Generator;
  /** IDs without end. */
  [Symbol.iterator](): IterableIterator<bigint>;
}

export interface BufferOptions {
  /** The most IDs to make at a time, 1 to 65536. Default: 256. */
  size?: number | bigint | undefined;
}

/**
 * A generator's handle that makes many IDs by one call and then hands them out by plain reads, at a
 * fifth of the cost of a call: for loops that make many IDs at once.
 *
 * - Its own IDs strictly increase (with `rollback: 'clock-sequence'` as far as the generator's do)
 *   and no ID is issued twice. They are not in order with those of other handles or of the
 *   generator itself.
 * - **Age:** an ID's time is when its batch was made. What is left of a batch is dropped at the next
 *   `await`, and in any case before the event loop goes on to another callback, timer or I/O. So an
 *   ID is at most as old as the code that runs without either has been running: usually less than
 *   a millisecond, but a second if that code blocks for a second between two IDs. Nothing looks at
 *   the clock in between, because that would cost more than a call.
 * - **Waste:** a batch begins with one ID and doubles up to `size`, so never more IDs are dropped
 *   than were used, nor more than `size` - 1. They count towards a tick's sequence.
 * - After `close` or `retire` of the generator nothing is handed out.
 *
 * With an `await` between any two IDs it is slower than `Generator.nextId`.
 */
export class BufferedGenerator implements Iterable<bigint> {
  constructor(generator: Generator, options?: BufferOptions);
  /** The next ID; when it makes a batch, waits and throws as `Generator.nextId`. */
  nextId(): bigint;
  readonly size: number;
  readonly generator: Generator;
  /** IDs without end. */
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
   * Called on the event loop with the reason when the generator refuses to refill the ring; a full
   * tick does not count. It does not keep the process running. If it throws, that is an uncaught
   * exception.
   */
  onRejectedPut?: ((error: FlakeIdError) => void) | undefined;
  /**
   * Called with the error before `nextId` or `take` throws it, unless the generator or the ring was
   * closed. If it throws, that error is thrown instead.
   */
  onRejectedTake?: ((error: FlakeIdError) => void) | undefined;
}

/** What happened in a ring so far, or until `close`. */
export interface RingStats {
  /** IDs in the ring. */
  readonly size: number;
  /** IDs handed out. */
  readonly taken: number;
  /** IDs dropped because they were older than `maxAgeMs`. */
  readonly droppedStale: number;
  /** Refills that the generator refused for another reason than a full tick. */
  readonly rejectedPut: number;
  /** Calls that got no ID for another reason than a closed generator. */
  readonly rejectedTake: number;
  /** Portions put into the ring after the first filling. */
  readonly refills: number;
}

/**
 * A ring of IDs made beforehand by a thread of its own, with a bound on their age. IDs leave it in
 * increasing order, none twice. It cannot make more of them than the generator may, nor run ahead
 * of the clock, unless the generator has a window and `overflow: 'borrow'`. IDs taken from the
 * generator directly are distinct from the ring's, but not in order with them.
 *
 * The thread does not keep the process running; it ends with `close`, or when nobody can reach the
 * ring any more.
 */
export class CachedGenerator implements Iterable<bigint> {
  /**
   * Fills the ring, and throws what keeps it from that. One ID is used up to wait for the generator's
   * first tick, at most 10 ms; where ticks are longer, `await generator.nextIdAsync()` before.
   */
  constructor(generator: Generator, options?: CachedOptions);
  /**
   * The next ID; waits for a refill for at most 10 ms (and `maxWaitMs`), and then throws what keeps
   * the generator from it, or `FLAKEID_RING_EMPTY`.
   */
  nextId(): bigint;
  /** The next ID of the ring, without ever waiting. */
  take(): bigint;
  /** How many IDs the ring can hold. */
  readonly capacity: number;
  stats(): RingStats;
  readonly generator: Generator;
  /** Ends the ring, not its generator, and waits for its thread, usually for at most 10 ms. */
  close(): void;
  /** IDs without end. */
  [Symbol.iterator](): IterableIterator<bigint>;
  /** `close`. */
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
   * Called with everything that happens to the lease. It does not keep the process running. If it
   * throws, that is an uncaught exception. A lease with a listener is not shared with other
   * generators.
   */
  onEvent?: ((event: LeaseEvent) => void) | undefined;
}

/**
 * Any node, unless there is a name, which always gets the same node while that is possible; or one
 * node, as a whole or as datacenter and worker.
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
    /** A handle for this thread: faster, but its IDs are not in order with those of other handles. */
    local(): LocalGenerator;
    /** A handle for loops that make many IDs at once. */
    buffered(options?: BufferOptions): BufferedGenerator;
    /** The state of the lease, if the node is leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * A generator whose node is leased from the store at a URL (`sqlite:///path/flakeid.db`,
     * `postgresql://`, `mysql://`, `redis://`, `etcd://`): its IDs are unique among all processes
     * that lease from that namespace. Generators of one process with equal options share one lease,
     * worker threads included. Rejects with `FLAKEID_STORE_UNAVAILABLE`, `FLAKEID_STORE_REJECTED`,
     * `FLAKEID_NO_FREE_NODE`, `FLAKEID_CLOCK_SKEW`, `FLAKEID_FENCE_IN_FUTURE`, or with the code of an
     * option that is wrong.
     */
    function lease(url: string, options?: LeaseOptions): Promise<Generator>;
    /**
     * As `lease`, from the store that `FLAKEID_STORE` names, or else from this host's embedded store,
     * and in the namespace that `FLAKEID_NAMESPACE` names, unless an option does. In a container
     * `FLAKEID_STORE` must be set.
     */
    function auto(options?: LeaseOptions): Promise<Generator>;
  }
}
