package io.github.flakeid;

/** What to do when every sequence number of a tick is used up. */
public enum Overflow {
    /** Wait, asleep, for the next tick, as long as the generator may wait. The default. */
    WAIT,
    /** {@code FLAKEID_SEQUENCE_EXHAUSTED} at once. */
    ERROR,
    /** Take IDs of the ticks to come, in a window and as far ahead of the clock as is allowed. */
    BORROW
}
