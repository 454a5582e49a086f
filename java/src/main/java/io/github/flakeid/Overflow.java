package io.github.flakeid;

/** The behaviour of a generator when all sequence numbers of a tick have been used. */
public enum Overflow {
    /** Sleeps until the next tick, for at most {@code maxWait}. This is the default. */
    WAIT,
    /** Fails immediately with {@code FLAKEID_SEQUENCE_EXHAUSTED}. */
    ERROR,
    /** Issues IDs from later ticks, up to {@code maxAhead} ahead of the clock; requires a window. */
    BORROW
}
