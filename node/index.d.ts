/// <reference types="node" />

import type { FlakeIdError, Generator, Instant, LayoutInput } from './api';

export * from './api';

/** Eight bytes, the most significant first. */
export function toBuffer(id: import('./api').IdInput): Buffer;
export function fromBuffer(buffer: Buffer): bigint;

interface CommonLeaseOptions {
  /** `default` unless set: 1 to 64 of `A-Z a-z 0-9 . _ -`. All that lease from it have one layout. */
  namespace?: string | undefined;
  /** Lease a node from this range only, both inclusive: all of the layout's unless set. */
  nodes?: readonly [from: number | bigint, to: number | bigint] | undefined;
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
  | { readonly kind: 'acquired'; readonly node: number; readonly start: bigint; readonly fence: bigint }
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
  interface Generator {
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
