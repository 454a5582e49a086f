import type { FlakeIdError } from './api';

/** A lease event. `start` and `fence` are ticks. */
export type LeaseEvent =
  | {
      readonly kind: 'acquired';
      readonly node: number;
      readonly start: bigint;
      readonly fence: bigint;
    }
  | { readonly kind: 'renewed'; readonly node: number; readonly fence: bigint }
  /**
   * The node is lost, usually to another process, and can be used only until its fence. The
   * generator then requests a node again, unless its options specify the node and another process
   * has taken over that node.
   */
  | { readonly kind: 'fenced-off'; readonly node: number; readonly error: FlakeIdError }
  /** The store refused a request. */
  | { readonly kind: 'refused'; readonly error: FlakeIdError }
  /** The store does not respond. The generator continues to issue IDs until the fence. */
  | { readonly kind: 'store-lost'; readonly error: FlakeIdError }
  | { readonly kind: 'store-found' }
  /** This host's clock and the store's clock are too far apart. */
  | { readonly kind: 'clock-skew'; readonly error: FlakeIdError }
  | { readonly kind: 'released'; readonly node: number };

/** The state of a lease. After the generator is closed, the state no longer changes. */
export interface LeaseStatus {
  /** The first tick of the current grant. */
  readonly start: bigint;
  /** The first tick that the generator must not use. */
  readonly fence: bigint;
  /** The time at which the tick `fence` begins. */
  readonly fenceTime: Date;
  /** The time until which no other process can lease the node, according to the store's clock. */
  readonly expires: Date;
  /**
   * The time left until `expires`, in milliseconds, according to this host's clock; negative if
   * `expires` is in the past.
   */
  readonly expiresInMs: number;
  /** The number of renewals that the store confirmed. */
  readonly renewals: number;
  /** The number of times that a store or broker granted this generator its nodes. */
  readonly grants: number;
  /** The number of failed attempts to acquire a node or to renew its lease. */
  readonly failures: number;
  /** Whether the node is lost, usually to another process, and can be used only until its fence. */
  readonly fencedOff: boolean;
  /** The error of the latest attempt; `undefined` if the attempt succeeded. */
  readonly lastError: FlakeIdError | undefined;
}
