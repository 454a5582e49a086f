import type { Instant, LayoutInput } from './api';
import type { LeaseEvent, LeaseStatus } from './leases';

export * from './api';
export * from './leases';

export interface LeaseOptions {
  // [options: fetch fields except on_event]
  /**
   * The namespace to lease from: 1 to 64 of `A-Z a-z 0-9 . _ -`. Each namespace has one layout, and
   * nodes of its own. Default: `default`.
   */
  namespace?: string | undefined;
  /**
   * The name of this process, by which it prefers the node that it had last: 1 to 128 bytes.
   * Default: none.
   */
  name?: string | undefined;
  /**
   * The token that the brokers require (`Authorization: Bearer`). Default: that of the URL
   * (`https://:TOKEN@host`).
   */
  token?: string | undefined;
  /**
   * The layout of the IDs, which must be the namespace's: the name of a preset or a descriptor; or
   * a `Layout`. Default: the namespace's.
   */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's. */
  epoch?: Instant | undefined;
  /**
   * The time after the last renewal until other processes can have the node, in milliseconds: at
   * most what the broker grants. Uniqueness does not depend on it. Default: 60 s or 12 ticks,
   * whichever is longer, or what the broker grants (12 s).
   */
  ttlMs?: number | bigint | undefined;
  /**
   * The time for which the generator issues IDs while no broker answers, in milliseconds: from two
   * ticks to what the broker grants. Default: 10 s or two ticks, whichever is longer, or what the
   * broker grants (4 s).
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
   * The longest time that opening and the asynchronous calls wait without issuing an ID, in
   * milliseconds. Opening a lease takes at most 2 s more, to connect. Default: 1 s or two ticks,
   * whichever is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  // [/options]
  /** Called with each event of the lease. If it throws, that is an uncaught exception. */
  onEvent?: ((event: LeaseEvent) => void) | undefined;
}

declare module './api' {
  interface Generator {
    /** The state of the lease, if the node is leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * Returns a generator with a node leased from the brokers at a URL (`https://one.example,two.example:7117`,
     * which `flakeid serve` runs): its IDs are unique among all processes and pages that lease from
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
