/// <reference types="node" />

import type { ClockName, FlakeIdError, Generator, Instant, LayoutInput } from './api';
import type { LeaseEvent, LeaseStatus } from './leases';

export * from './api';
export * from './leases';

/** Returns an ID as eight bytes, with the most significant byte first. */
export function toBuffer(id: import('./api').IdInput): Buffer;
export function fromBuffer(buffer: Buffer): bigint;

/**
 * A faster handle to a generator, for one thread. The handle reserves chunks of positions, so that
 * most IDs do not require a compare-and-swap. The IDs from one handle strictly increase, and no ID
 * is issued twice. IDs from one handle are not ordered relative to IDs from other handles or from
 * the generator itself. The times in the IDs are never ahead of the clock, and lag by at most one
 * tick of the kernel's coarse clock, which is a few milliseconds.
 *
 * A handle cannot be passed to another thread. Each worker creates a handle from its own generator.
 */
export class LocalGenerator implements Iterable<bigint> {
  constructor(generator: Generator);
  /** Returns the next ID. Waits and throws like `Generator.nextId`. */
  nextId(): bigint;
  /** Returns the next ID without waiting. Throws an error if `nextId` would wait. */
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
 * A handle to a generator, for loops that generate many IDs. The handle generates a batch of IDs
 * with one call, and then reads the IDs from an array. Such a read takes a fifth of the time of a
 * call.
 *
 * - **Order:** the IDs from one handle strictly increase, and no ID is issued twice. With
 *   `rollback: 'clock-sequence'`, the IDs can decrease after a clock rollback, as the generator's
 *   own IDs can. IDs from one handle are not ordered relative to IDs from other handles or from the
 *   generator itself.
 * - **Age:** the time in an ID is the time at which the ID's batch was generated. The remaining IDs
 *   of a batch are dropped at the next `await`, and at the latest before the event loop runs
 *   another callback, timer or I/O. An ID is therefore never older than the time for which code has
 *   run without an `await` and without returning to the event loop. That time is usually less than
 *   a millisecond, but a second if the code blocks for a second between two IDs. The handle does
 *   not read the clock for each ID, because reading the clock would cost more than a call.
 * - **Waste:** the first batch has one ID, and each further batch is twice as large, up to `size`.
 *   After IDs are dropped, batches start again with one ID. The number of dropped IDs therefore
 *   exceeds neither the number of used IDs nor `size` - 1. Dropped IDs use up sequence numbers of
 *   their tick.
 * - After the generator has been closed or retired, the handle returns no IDs.
 *
 * If the code awaits between any two IDs, the handle is slower than `Generator.nextId`.
 */
export class BufferedGenerator implements Iterable<bigint> {
  constructor(generator: Generator, options?: BufferOptions);
  /**
   * Returns the next ID. Waits and throws like `Generator.nextId` when the handle generates a
   * batch.
   */
  nextId(): bigint;
  readonly size: number;
  readonly generator: Generator;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
}

export interface CachedOptions {
  // [options: ring fields]
  /**
   * The exponent k, from 0 to 20, that determines the ring's capacity. The capacity is the number
   * of IDs in 2^k full ticks, limited to the range from 2 to 2^20. Default: 3.
   */
  boostPower?: number | bigint | undefined;
  /**
   * The percentage of the ring's capacity below which the ring is refilled: 1 to 99. Default: 50.
   */
  paddingFactor?: number | bigint | undefined;
  /**
   * The interval at which the ring is refilled even if enough IDs are left, in milliseconds: at
   * least 1 ms. Regular refills keep the IDs of a rarely used ring fresh. Default: a refill only
   * when too few IDs are left.
   */
  refillIntervalMs?: number | bigint | undefined;
  /**
   * The maximum age of an ID that the ring returns, in milliseconds: at least two ticks. The age is
   * measured from the beginning of the ID's tick. Older IDs are dropped and counted. Default: 1 s
   * or two ticks, whichever is longer.
   */
  maxAgeMs?: number | bigint | undefined;
  /**
   * A function that is called with the error, on the event loop, each time the generator refuses to
   * fill the ring, except when all IDs of the tick have been used. Setting this function does not
   * keep the process running. An exception that the function throws is treated as uncaught.
   */
  onRejectedPut?: ((error: FlakeIdError) => void) | undefined;
  /**
   * A function that is called with the error before `nextId` or `take` throws it, unless the
   * generator or the ring was closed. An exception that the function throws replaces that error.
   */
  onRejectedTake?: ((error: FlakeIdError) => void) | undefined;
  // [/options]
}

/** The statistics of a ring. After the ring is closed, the statistics no longer change. */
export interface RingStats {
  /** The number of IDs in the ring. */
  readonly size: number;
  /** The number of IDs that callers took. */
  readonly taken: number;
  /** The number of IDs dropped because they were older than `maxAgeMs`. */
  readonly droppedStale: number;
  /**
   * The number of refills that the generator refused for a reason other than a tick whose IDs had
   * all been used.
   */
  readonly rejectedPut: number;
  /** The number of calls that failed, except calls that failed because the generator was closed. */
  readonly rejectedTake: number;
  /** The number of times that IDs were added to the ring after the initial fill. */
  readonly refills: number;
}

/**
 * A ring buffer of IDs that a separate thread generates in advance, with a limit on the age of the
 * IDs. The ring returns IDs in increasing order, and never returns an ID twice. The ring cannot
 * provide more IDs than the generator. The ring cannot run ahead of the clock unless the generator
 * has a window and `overflow: 'borrow'`. IDs that are taken directly from the generator are
 * distinct from the ring's IDs, but are not ordered relative to the ring's IDs.
 *
 * The thread does not keep the process running. The thread ends when the ring is closed or is no
 * longer reachable.
 */
export class CachedGenerator implements Iterable<bigint> {
  /**
   * Creates and fills the ring. If the ring cannot be filled, throws the error that caused the
   * failure. To wait for the generator's first tick, the constructor generates one ID and discards
   * it. This wait takes at most 10 ms. If the layout's ticks are longer than 10 ms, first call
   * `await generator.nextIdAsync()`.
   */
  constructor(generator: Generator, options?: CachedOptions);
  /**
   * Returns the next ID. If the ring is empty, waits for a refill for at most 10 ms or `maxWaitMs`,
   * whichever is shorter. Throws the generator's error or `FLAKEID_RING_EMPTY` if no ID becomes
   * available.
   */
  nextId(): bigint;
  /** Returns the next ID from the ring without waiting. */
  take(): bigint;
  /** The number of IDs that the ring can hold. */
  readonly capacity: number;
  stats(): RingStats;
  readonly generator: Generator;
  /**
   * Closes the ring, but not its generator. Waits until the ring's thread has ended, which usually
   * takes at most 10 ms.
   */
  close(): void;
  /** Returns an endless iterator of IDs. */
  [Symbol.iterator](): IterableIterator<bigint>;
  /** Closes the ring. */
  [Symbol.dispose](): void;
}

interface CommonLeaseOptions {
  // [options: lease fields except name node datacenter worker]
  /**
   * The namespace from which to lease a node: 1 to 64 characters from the set `A-Z a-z 0-9 . _ -`.
   * Each namespace has one layout and its own nodes. Default: `default`.
   */
  namespace?: string | undefined;
  /**
   * The range of nodes to choose from, both ends inclusive, as `[from, to]`. Default: all nodes of
   * the layout.
   */
  nodes?: readonly [from: number | bigint, to: number | bigint] | undefined;
  /**
   * The number of nodes to lease for this generator, which must be a power of two. In every tick,
   * the generator can issue the IDs of all these nodes. Several nodes cannot be combined with
   * `name`, `node` or `sequenceMask`. Default: 1.
   */
  nodeCount?: number | bigint | undefined;
  /**
   * The layout of the IDs: a preset's name or a descriptor, or a `Layout`. A lease must use the
   * layout of its namespace. Default: `twitter`.
   */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's epoch. */
  epoch?: Instant | undefined;
  /**
   * The time for which the node stays reserved after the last renewal, in milliseconds: 1 ms to 30
   * days. Uniqueness does not depend on this time. Default: 60 s or 12 ticks, whichever is longer.
   */
  ttlMs?: number | bigint | undefined;
  /**
   * The time for which the generator issues IDs while the store is unavailable, in milliseconds:
   * from two ticks to the longest window that the namespace allows. Default: 10 s or two ticks,
   * whichever is longer.
   */
  windowMs?: number | bigint | undefined;
  /** The behaviour when a tick has no IDs left. Default: `wait`. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** The behaviour when the clock goes backwards. Default: `continue`. */
  rollback?: 'continue' | 'error' | 'wait' | undefined;
  /**
   * The largest sequence number to use, which must have the form 2^k - 1. Default: the layout's
   * largest sequence number.
   */
  sequenceMask?: number | bigint | undefined;
  /** The number of random bits in the first sequence number of each tick. Default: 0. */
  sequenceStart?: number | bigint | undefined;
  /**
   * The longest time that a call waits without issuing an ID, in milliseconds. Opening a lease may
   * take up to 2 s longer because of the connection to the store, or as long as `openWaitMs` if the
   * store grants nothing after a restart. Default: 1 s or two ticks, whichever is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  /**
   * The longest time that opening a lease waits while the store grants nothing, for example after a
   * restart, in milliseconds. If the store would grant a node only later, opening fails at once.
   * Default: 30 s.
   */
  openWaitMs?: number | bigint | undefined;
  /**
   * The clock: `gated`, `system` or `coarse`. With `gated`, the time is exact, and on suitable
   * processors the system clock is read only a few times per millisecond. With `system`, the system
   * clock is read for every ID. With `coarse`, the time lags behind the system clock by a few
   * milliseconds, and is never ahead of the system clock. Default: `gated`.
   */
  clock?: ClockName | undefined;
  /**
   * Whether a node that was leased before may be leased again. Without reuse, each start of the
   * program uses up a node, until no node is left. Default: `true`.
   */
  reuse?: boolean | undefined;
  /**
   * A function that is called on the event loop with each event of the lease. Setting this function
   * does not keep the process running. An exception that the function throws is treated as
   * uncaught. A lease with an event function is not shared with other generators.
   */
  onEvent?: ((event: LeaseEvent) => void) | undefined;
  // [/options]
  // [options: fetch fields only token]
  /**
   * The bearer token that the brokers require in the `Authorization` header. Default: the token in
   * the URL (`https://:TOKEN@host`).
   */
  token?: string | undefined;
  // [/options]
}

/**
 * The options of a lease. The option `node`, or the options `datacenter` and `worker`, specify the
 * node. Without these options, the lease gets any node. A lease with a `name` gets the same node
 * each time, if possible.
 */
export type LeaseOptions = CommonLeaseOptions &
  (
    | {
        // [options: lease fields only name]
        /**
         * The name of this process, 1 to 128 bytes long. If possible, the process gets the last node that
         * was leased under its name. Default: none.
         */
        name?: string | undefined;
        // [/options]
        node?: undefined;
        datacenter?: undefined;
        worker?: undefined;
      }
    | {
        name?: undefined;
        // [options: lease required only node]
        /**
         * The node to lease. Taking over the node is safe even while another process holds it. Default:
         * any node.
         */
        node: number | bigint;
        // [/options]
        datacenter?: undefined;
        worker?: undefined;
      }
    | {
        name?: undefined;
        node?: undefined;
        // [options: lease required only datacenter worker]
        /**
         * The high part of the node, in layouts that split the node; must be set together with `worker`.
         */
        datacenter: number | bigint;
        /**
         * The low part of the node, in layouts that split the node; must be set together with
         * `datacenter`.
         */
        worker: number | bigint;
        // [/options]
      }
  );

/** The options of a new namespace. */
export interface NamespaceOptions {
  // [options: namespace fields]
  /** The layout of the IDs: a preset's name or a descriptor, or a `Layout`. Default: `twitter`. */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's epoch. */
  epoch?: Instant | undefined;
  /**
   * The longest time by which a window may start ahead of the clock, in milliseconds: at most a
   * day. Default: 20 s or four ticks, whichever is longer.
   */
  maxAheadMs?: number | bigint | undefined;
  /**
   * The longest window of a lease, for which processes can issue IDs while the store is
   * unavailable, in milliseconds: from two ticks to a day. Default: 10 s or four ticks, whichever
   * is longer.
   */
  maxWindowMs?: number | bigint | undefined;
  /**
   * The largest allowed difference between a host's clock and the store's clock, in milliseconds: 1
   * ms to a day. Default: 1 s.
   */
  maxSkewMs?: number | bigint | undefined;
  /**
   * The time for which the store grants no nodes after a restart, a failover or a restore, in
   * milliseconds: at most a week. Default: the longest window, four times the allowed difference
   * between clocks and a tick, but at least 15 s.
   */
  quietMs?: number | bigint | undefined;
  /**
   * The exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes from the brokers.
   * With 0, processes lease single nodes from the store. Default: 0.
   */
  blockBits?: number | bigint | undefined;
  /** Whether the store records which process held which node. Default: `true`. */
  history?: boolean | undefined;
  /**
   * Whether the store has never had a namespace with this name, so that it grants nodes at once. If
   * this is untrue, IDs may be issued twice. Never set this option when a program starts: it is
   * untrue after the store has lost its data. Default: `false`.
   */
  fresh?: boolean | undefined;
  // [/options]
}

/**
 * Creates the namespace `name` in the store at `url`, with the tables or keys that the store needs
 * for it, unless the namespace exists. Resolves to the time until the store can grant nodes, in
 * milliseconds.
 *
 * A server cannot distinguish a namespace that never existed from a namespace that it has lost.
 * Therefore, the store grants nothing until all leases that it may have lost have ended: 15 s with
 * the default bounds, and the first IDs are then up to 18 s ahead of the clock. Each assumed bound
 * is the larger of the default bound and the given bound. If the lost namespace may have had larger
 * bounds, create it with the command `flakeid leases init --lost`. An embedded store
 * (`sqlite`) detects its losses, so its nodes can usually be leased at once.
 *
 * If the namespace already exists with the same layout, the same blocks and the given options,
 * nothing changes, so every process can call this function when it starts. On a database server,
 * the function requires a user who may create tables. Rejects with `FLAKEID_STORE_UNAVAILABLE`,
 * `FLAKEID_STORE_REJECTED` (another layout, other blocks, a broker's URL, missing permissions) or
 * the error code for an invalid option, which also applies to an option that differs from the
 * existing namespace.
 */
export function createNamespace(
  url: string,
  name: string,
  options?: NamespaceOptions,
): Promise<number>;

declare module './api' {
  interface NodeChoices {
    several: {
      node?: undefined;
      // [options: generator required only nodes]
      /**
       * Several different nodes instead of one. The number of nodes must be a power of two. In every
       * tick, the generator can then issue the IDs of all these nodes. Several nodes cannot be combined
       * with `sequenceMask` or with layouts that have clock sequences. Within a process, a node must be
       * used either alone or always together with the same other nodes. Default: one node.
       */
      nodes: readonly (number | bigint)[];
      // [/options]
      datacenter?: undefined;
      worker?: undefined;
    };
  }
  interface Generator {
    /**
     * Returns a faster handle for this thread. IDs from this handle are not ordered relative to IDs
     * from other handles.
     */
    local(): LocalGenerator;
    /** Returns a handle for loops that generate many IDs. */
    buffered(options?: BufferOptions): BufferedGenerator;
    /** The state of the lease, or `undefined` if the node is not leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * Returns a generator with a node that is leased from the store at `url`
     * (`sqlite:///path/flakeid.db`, `postgresql://`, `mysql://`, `redis://`, `etcd://`). The
     * generator's IDs are unique among all processes that lease nodes from the same namespace.
     * Generators with equal options in one process share one lease, even across worker threads.
     * Rejects with `FLAKEID_STORE_UNAVAILABLE`, `FLAKEID_STORE_REJECTED`, `FLAKEID_NO_FREE_NODE`,
     * `FLAKEID_CLOCK_SKEW` or `FLAKEID_FENCE_IN_FUTURE`, or with the error code for an invalid
     * option.
     */
    function lease(url: string, options?: LeaseOptions): Promise<Generator>;
    /**
     * Behaves like `lease`, but with the URL in the environment variable `FLAKEID_STORE`. If
     * the variable is not set, the lease comes from the store that root has named in
     * /etc/flakeid/store, or else from this user's embedded store. The namespace comes from the options or from the environment variable `FLAKEID_NAMESPACE`. In a container,
     * `FLAKEID_STORE` must be set.
     */
    function auto(options?: LeaseOptions): Promise<Generator>;
  }
}
