import type { Instant, LayoutInput } from '../index.js';

/** A time range. Both ends are rounded down to whole ticks. */
export interface CreatedBetween {
  /** The start of the range, inclusive. Default: no lower bound. */
  from?: Instant | undefined;
  /** The end of the range, exclusive. Default: no upper bound. */
  before?: Instant | undefined;
  /** The layout of the IDs. Default: `twitter`. */
  layout?: LayoutInput | undefined;
  /** Whether the column contains UUIDs. Default: `false`. */
  uuid?: boolean | undefined;
}
