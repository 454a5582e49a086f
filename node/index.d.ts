/// <reference types="node" />

import type { FlakeIdError, Generator, Instant, LayoutInput } from './api';

export * from './api';

/** Eight bytes, the most significant first. */
export function toBuffer(id: import('./api').IdInput): Buffer;
export function fromBuffer(buffer: Buffer): bigint;

/**
 * `system` is exact to the millisecond; so is `gated`, which asks the processor's counter first;
 * `coarse` is a few milliseconds late, and faster.
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
  /** How many IDs it makes at a time at most: 256 unless set, 1 to 65536. */
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
  /** The ring holds the IDs of 2^`boostPower` full ticks: 0 to 20, 3 unless set; at most 2^20. */
  boostPower?: number | bigint | undefined;
  /** Refill when fewer than this many percent are left: 1 to 99, 50 unless set. */
  paddingFactor?: number | bigint | undefined;
  /** Also refill this often, at least 1 ms; only when too few are left unless set. */
  refillIntervalMs?: number | bigint | undefined;
  /**
   * How long after the beginning of its tick an ID may be handed out, at least two ticks: 1 s or
   * two ticks unless set, whichever is longer. What is older is dropped and counted.
   */
  maxAgeMs?: number | bigint | undefined;
  /**
   * Is told, on the event loop, why the generator refused to refill the ring; a full tick is no
   * refusal. It does not keep the process running, and what it throws is an uncaught exception.
   */
  onRejectedPut?: ((error: FlakeIdError) => void) | undefined;
  /**
   * Is told, before `nextId` or `take` throws it, why there is no ID, unless the generator or the
   * ring was closed. What it throws itself is thrown instead.
   */
  onRejectedTake?: ((error: FlakeIdError) => void) | undefined;
}

/** What happened to a ring; after `close`, until then. */
export interface RingStats {
  /** IDs in the ring. */
  readonly size: number;
  /** IDs handed out. */
  readonly taken: number;
  /** IDs dropped because they were older than `maxAgeMs`. */
  readonly droppedStale: number;
  /** Refills that the generator refused, other than because its tick was full. */
  readonly rejectedPut: number;
  /** Calls that were refused an ID, other than because the generator was closed. */
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
  /** `default` unless set: 1 to 64 of `A-Z a-z 0-9 . _ -`. All that lease from it have one layout. */
  namespace?: string | undefined;
  /** Lease a node from this range only, both inclusive: all of the layout's unless set. */
  nodes?: readonly [from: number | bigint, to: number | bigint] | undefined;
  /**
   * Lease so many nodes for this one generator: 1 unless set, else 2, 4, 8 or another power of two.
   * Its ceiling is so many times higher.
   */
  nodeCount?: number | bigint | undefined;
  /** `system` unless set. */
  clock?: ClockName | undefined;
  /** `twitter` unless set. */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0, instead of the layout's. */
  epoch?: Instant | undefined;
  /**
   * For how long the node is kept from others without a renewal: 60 s unless set, 1 ms to 30 days.
   * Uniqueness does not depend on it.
   */
  ttlMs?: number | bigint | undefined;
  /**
   * How far a renewal reaches, and so for how long IDs go on while the store is away: 10 s unless
   * set, two ticks to 30 days, at most what the namespace allows.
   */
  windowMs?: number | bigint | undefined;
  /**
   * How long opening and the asynchronous calls wait without progress: 1 s or two ticks unless set,
   * whichever is longer. Opening may take 2 s more, to connect.
   */
  maxWaitMs?: number | bigint | undefined;
  /** When a tick is full: `wait` unless set. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** When the clock goes back: `continue` unless set. */
  rollback?: 'continue' | 'error' | 'wait' | 'clock-sequence' | undefined;
  /** The largest sequence number to use: 2^k - 1. */
  sequenceMask?: number | bigint | undefined;
  /** Begin each tick at a random sequence number below 2^`sequenceStart`; 0 unless set. */
  sequenceStart?: number | bigint | undefined;
  /**
   * Whether a node may be leased that was leased before: `true` unless set. Without it each start
   * uses up a node, until none is left.
   */
  reuse?: boolean | undefined;
  /**
   * Is told what happens to the lease. It does not keep the process running, and what it throws is
   * an uncaught exception. A lease with a listener is not shared with other generators.
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

/** What happens to a lease. `start` and `fence` are ticks. */
export type LeaseEvent =
  | {
      readonly kind: 'acquired';
      readonly node: number;
      readonly start: bigint;
      readonly fence: bigint;
    }
  | { readonly kind: 'renewed'; readonly node: number; readonly fence: bigint }
  /** Another process has the node from the fence on; this one takes another node. */
  | { readonly kind: 'fenced-off'; readonly node: number; readonly error: FlakeIdError }
  /** The store said no. */
  | { readonly kind: 'refused'; readonly error: FlakeIdError }
  /** The store does not answer. IDs go on until the fence. */
  | { readonly kind: 'store-lost'; readonly error: FlakeIdError }
  | { readonly kind: 'store-found' }
  /** This host's clock and the store's are too far apart. */
  | { readonly kind: 'clock-skew'; readonly error: FlakeIdError }
  | { readonly kind: 'released'; readonly node: number };

/** How a lease stands; after `close`, how it stood then. */
export interface LeaseStatus {
  /** The first tick of the present grant. */
  readonly start: bigint;
  /** The first tick that may not be used. */
  readonly fence: bigint;
  /** When that tick begins. */
  readonly fenceTime: Date;
  /** Until when nobody else gets the node, by the store's clock. */
  readonly expires: Date;
  /** How long that is from now by this host's clock; negative when it is over. */
  readonly expiresInMs: number;
  /** Renewals that were confirmed. */
  readonly renewals: number;
  /** Nodes that were granted. */
  readonly grants: number;
  /** Attempts to acquire or renew that had no success. */
  readonly failures: number;
  /** Whether the node is another process's from the fence on. */
  readonly fencedOff: boolean;
  /** Why the latest attempt had no success, unless it had. */
  readonly lastError: FlakeIdError | undefined;
}

declare module './api' {
  interface ClockChoices {
    /** The system's clocks by name. */
    named: ClockName;
  }
  interface NodeChoices {
    /**
     * 1, 2, 4, 8 or another power of two of nodes for one generator, whose ceiling is so many times
     * higher. Without `sequenceMask`, and not in layouts with clock sequences.
     */
    several: {
      node?: undefined;
      nodes: readonly (number | bigint)[];
      datacenter?: undefined;
      worker?: undefined;
    };
  }
  interface Generator {
    /** A handle for this thread: faster, for IDs that are not in order with those of others. */
    local(): LocalGenerator;
    /** A handle for loops that make many IDs at once. */
    buffered(options?: BufferOptions): BufferedGenerator;
    /** How the lease stands, if the node is leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * A generator whose node is leased from the store at a URL (`sqlite:///path/flakeid.db`,
     * `postgresql://`, `mysql://`, `redis://`, `etcd://`): its IDs are unique among all processes
     * that lease from that namespace. Generators of one process with equal options share one lease,
     * worker threads included. Rejects with `FLAKEID_STORE_UNAVAILABLE`, `FLAKEID_STORE_REJECTED`,
     * `FLAKEID_NO_FREE_NODE`, `FLAKEID_CLOCK_SKEW`, `FLAKEID_FENCE_IN_FUTURE`, or for what is wrong
     * with an option.
     */
    function lease(url: string, options?: LeaseOptions): Promise<Generator>;
    /**
     * The same from the store that `FLAKEID_STORE` names, or else from this host's own; in the
     * namespace `FLAKEID_NAMESPACE`, unless one is given. In a container it needs `FLAKEID_STORE`.
     */
    function auto(options?: LeaseOptions): Promise<Generator>;
  }
}
