import type { FlakeIdError } from './api';

/** An event of a lease. `start` and `fence` are ticks. */
export type LeaseEvent =
  | {
      readonly kind: 'acquired';
      readonly node: number;
      readonly start: bigint;
      readonly fence: bigint;
    }
  | { readonly kind: 'renewed'; readonly node: number; readonly fence: bigint }
  /** Another process has the node from the fence on; this process leases another node. */
  | { readonly kind: 'fenced-off'; readonly node: number; readonly error: FlakeIdError }
  /** The store refused a request. */
  | { readonly kind: 'refused'; readonly error: FlakeIdError }
  /** The store does not respond. The generator issues IDs until the fence. */
  | { readonly kind: 'store-lost'; readonly error: FlakeIdError }
  | { readonly kind: 'store-found' }
  /** This host's clock and the store's are too far apart. */
  | { readonly kind: 'clock-skew'; readonly error: FlakeIdError }
  | { readonly kind: 'released'; readonly node: number };

/** The state of a lease, or its last state after `close`. */
export interface LeaseStatus {
  /** The first tick of the current grant. */
  readonly start: bigint;
  /** The first tick that may not be used. */
  readonly fence: bigint;
  /** The beginning of the fence's tick. */
  readonly fenceTime: Date;
  /** The time until which no other process can have the node, by the store's clock. */
  readonly expires: Date;
  /** The time until the expiry by this host's clock, in milliseconds; negative if it is past. */
  readonly expiresInMs: number;
  /** The number of renewals that the store confirmed. */
  readonly renewals: number;
  /** The number of nodes granted so far. */
  readonly grants: number;
  /** The number of failed attempts to acquire or renew. */
  readonly failures: number;
  /** Whether the node belongs to another process from the fence on. */
  readonly fencedOff: boolean;
  /** The error of the latest attempt; `undefined` if it succeeded. */
  readonly lastError: FlakeIdError | undefined;
}
