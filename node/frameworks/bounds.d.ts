import type { Instant, LayoutInput } from '../index.js';

/** A span of time; both ends are rounded down to whole ticks. */
export interface CreatedBetween {
  /** The first instant. Default: no bound. */
  from?: Instant | undefined;
  /** The instant at which the span is over. Default: no bound. */
  before?: Instant | undefined;
  /** The layout of the IDs. Default: twitter. */
  layout?: LayoutInput | undefined;
}
