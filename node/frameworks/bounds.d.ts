import type { Instant, LayoutInput } from '../index.js';

/** A time range; both ends are rounded down to whole ticks. */
export interface CreatedBetween {
  /** The first instant. Default: no bound. */
  from?: Instant | undefined;
  /** The end of the range, exclusive. Default: no bound. */
  before?: Instant | undefined;
  /** The layout of the IDs. Default: twitter. */
  layout?: LayoutInput | undefined;
}
