package io.github.flakeid;

/** The behaviour of a generator when the clock goes backwards. */
public enum Rollback {
    /**
     * Issues the remaining IDs of the current tick, and then waits at most {@code maxWait} for the clock to catch up.
     * A generator with a window of ticks, such as a leased generator, first issues IDs from the following ticks, up to
     * {@code maxAhead} ahead of the clock. This is the default.
     */
    CONTINUE,
    /** Fails immediately with {@code FLAKEID_CLOCK_ROLLBACK}. */
    ERROR,
    /** Waits at most {@code maxWait} for the clock to catch up. */
    WAIT,
    /** Issues IDs with another clock sequence; requires a fixed node and a layout that has clock sequences. */
    CLOCK_SEQUENCE
}
