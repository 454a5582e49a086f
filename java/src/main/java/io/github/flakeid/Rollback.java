package io.github.flakeid;

/** The behaviour of a generator when the clock goes backwards. */
public enum Rollback {
    /**
     * Issues the remaining IDs of the current tick, and then waits at most {@code maxWait} for the clock to catch up.
     * In a window, continues with the next ticks instead. This is the default.
     */
    CONTINUE,
    /** Fails immediately with {@code FLAKEID_CLOCK_ROLLBACK}. */
    ERROR,
    /** Waits at most {@code maxWait} for the clock to catch up. */
    WAIT,
    /** Continues with another clock sequence; requires a fixed node and a layout that has clock sequences. */
    CLOCK_SEQUENCE
}
