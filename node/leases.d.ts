import type { FlakeIdError } from './api';

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

/** The state of a lease, or its last state after `close`. */
export interface LeaseStatus {
  /** The first tick of the present grant. */
  readonly start: bigint;
  /** The first tick that may not be used. */
  readonly fence: bigint;
  /** When that tick begins. */
  readonly fenceTime: Date;
  /** Until when no other process can have the node, by the store's clock. */
  readonly expires: Date;
  /** How far in the future that is by this host's clock, in milliseconds; negative if it is past. */
  readonly expiresInMs: number;
  /** Renewals that were confirmed. */
  readonly renewals: number;
  /** Nodes that were granted. */
  readonly grants: number;
  /** Attempts to acquire or renew that failed. */
  readonly failures: number;
  /** Whether the node belongs to another process from the fence on. */
  readonly fencedOff: boolean;
  /** Why the latest attempt failed; `undefined` if it succeeded. */
  readonly lastError: FlakeIdError | undefined;
}
