import type { Instant, LayoutInput } from './api';
import type { LeaseEvent, LeaseStatus } from './leases';

export * from './api';
export * from './leases';

export interface LeaseOptions {
  /**
   * The namespace to lease from: 1 to 64 of `A-Z a-z 0-9 . _ -`. It has one layout. Default:
   * `default`.
   */
  namespace?: string | undefined;
  /** Preferably the node that a lease of this name had last. Default: any node. */
  name?: string | undefined;
  /** What to show to the brokers (`Authorization: Bearer`). Default: the one in the URL, if any. */
  token?: string | undefined;
  /** The layout of the IDs, which must be the namespace's. Default: the namespace's. */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's epoch. */
  epoch?: Instant | undefined;
  /**
   * How long others cannot have the node after its last renewal, in milliseconds, up to 30 days; at
   * most what the broker grants. Uniqueness does not depend on it. Default: 60 s or 12 ticks,
   * whichever is longer.
   */
  ttlMs?: number | bigint | undefined;
  /**
   * How long IDs go on while the broker is away, in milliseconds, from two ticks to what the broker
   * grants, which is 4 s by default. Default: 10 s or two ticks, whichever is longer.
   */
  windowMs?: number | bigint | undefined;
  /**
   * How long opening and the asynchronous calls wait without issuing an ID, in milliseconds. Opening
   * may take 2 s more, to connect. Default: 1 s or two ticks, whichever is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  /** What to do when a tick is full. Default: `wait`. */
  overflow?: 'wait' | 'error' | 'borrow' | undefined;
  /** What to do when the clock goes back. Default: `continue`. */
  rollback?: 'continue' | 'error' | 'wait' | undefined;
  /** The largest sequence number to use: 2^k - 1. Default: the layout's. */
  sequenceMask?: number | bigint | undefined;
  /** Begin each tick at a random sequence number below 2^`sequenceStart`. Default: 0. */
  sequenceStart?: number | bigint | undefined;
  /** Called with everything that happens to the lease. If it throws, that is an uncaught exception. */
  onEvent?: ((event: LeaseEvent) => void) | undefined;
}

declare module './api' {
  interface Generator {
    /** The state of the lease, if the node is leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * A generator whose node is leased from the brokers at a URL (`https://one.example,two.example:7117`,
     * as `flakeid serve` runs them): its IDs are unique among all processes and pages that lease from
     * that namespace. Each call leases a node of its own. Rejects with `FLAKEID_STORE_UNAVAILABLE`,
     * `FLAKEID_STORE_REJECTED`, `FLAKEID_NO_FREE_NODE`, `FLAKEID_CLOCK_SKEW`,
     * `FLAKEID_FENCE_IN_FUTURE`, or with the code of an option that is wrong.
     *
     * Outside its window `nextId` throws `FLAKEID_LEASE_EXPIRED` with `retryAfterMs`, and
     * `nextIdAsync` waits for the next renewal for at most `maxWaitMs`.
     */
    function lease(url: string, options?: LeaseOptions): Promise<Generator>;
  }
}
