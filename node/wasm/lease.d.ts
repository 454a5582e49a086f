import type { Instant, LayoutInput } from './api';
import type { LeaseEvent, LeaseStatus } from './leases';

export * from './api';
export * from './leases';

export interface LeaseOptions {
  // [options: fetch fields]
  /**
   * The namespace from which to lease a node: 1 to 64 characters from the set `A-Z a-z 0-9 . _ -`.
   * Each namespace has one layout and its own nodes. Default: `default`.
   */
  namespace?: string | undefined;
  /**
   * The name of this process, 1 to 128 bytes long. If possible, the process gets the last node that
   * was leased under its name. Default: none.
   */
  name?: string | undefined;
  /**
   * The bearer token that the brokers require in the `Authorization` header. Default: the token in
   * the URL (`https://:TOKEN@host`).
   */
  token?: string | undefined;
  /**
   * The layout of the IDs: a preset's name or a descriptor, or a `Layout`. A lease must use the
   * layout of its namespace. Default: the layout of the namespace.
   */
  layout?: LayoutInput | undefined;
  /** The instant of tick 0. Default: the layout's epoch. */
  epoch?: Instant | undefined;
  /**
   * The time for which the node stays reserved after the last renewal, in milliseconds: at most the
   * time that the broker grants. Uniqueness does not depend on this time. Default: 60 s or 12
   * ticks, whichever is longer, but at most the time that the broker grants (by default 12 s).
   */
  ttlMs?: number | bigint | undefined;
  /**
   * The time for which the generator can issue IDs while no broker responds, in milliseconds: at
   * least two ticks, and at most the time that the broker grants. Default: 10 s or two ticks,
   * whichever is longer, but at most the time that the broker grants (by default 4 s).
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
   * The longest time that an asynchronous call waits without issuing an ID, in milliseconds.
   * Opening a lease may take up to 2 s longer because of the connection to a broker, or as long as
   * `openWaitMs` if the store grants nothing after a restart. Default: 1 s or two ticks, whichever
   * is longer.
   */
  maxWaitMs?: number | bigint | undefined;
  /**
   * The longest time that opening a lease waits while the store grants nothing, for example after a
   * restart, in milliseconds. If the store would grant a node only later, opening fails at once.
   * Default: 30 s.
   */
  openWaitMs?: number | bigint | undefined;
  /**
   * A function that is called on the event loop with each event of the lease. Setting this function
   * does not keep the process running. An exception that the function throws is treated as
   * uncaught. A lease with an event function is not shared with other generators.
   */
  onEvent?: ((event: LeaseEvent) => void) | undefined;
  // [/options]
}

declare module './api' {
  interface Generator {
    /** The state of the lease, or `undefined` if the node is not leased. */
    readonly lease: LeaseStatus | undefined;
  }
  namespace Generator {
    /**
     * Returns a generator with a node that is leased from the brokers at `url`
     * (`https://one.example,two.example:7117`). The command `flakeid serve` runs a broker. The
     * generator's IDs are unique among all processes and pages that lease nodes from the same
     * namespace. Each call leases its own node. Rejects with `FLAKEID_STORE_UNAVAILABLE`,
     * `FLAKEID_STORE_REJECTED`, `FLAKEID_NO_FREE_NODE`, `FLAKEID_CLOCK_SKEW` or
     * `FLAKEID_FENCE_IN_FUTURE`, or with the error code for an invalid option.
     *
     * Outside the generator's window, `nextId` throws `FLAKEID_LEASE_EXPIRED` with `retryAfterMs`,
     * and `nextIdAsync` waits for the next renewal for at most `maxWaitMs`.
     */
    function lease(url: string, options?: LeaseOptions): Promise<Generator>;
  }
}
