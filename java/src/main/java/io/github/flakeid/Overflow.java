package io.github.flakeid;

/** The behaviour of a generator when all sequence numbers of a tick are used up. */
public enum Overflow {
    /** Sleep until the next tick, for at most {@code maxWait}. The default. */
    WAIT,
    /** Fail at once with {@code FLAKEID_SEQUENCE_EXHAUSTED}. */
    ERROR,
    /** Take IDs of later ticks, in a window and up to {@code maxAhead} ahead of the clock. */
    BORROW
}
