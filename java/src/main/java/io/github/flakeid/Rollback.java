package io.github.flakeid;

/** The behaviour of a generator when the clock goes backwards. */
public enum Rollback {
    /** Uses up the current tick, then waits; in a window, continues with the next ticks. This is the default. */
    CONTINUE,
    /** Fails immediately with {@code FLAKEID_CLOCK_ROLLBACK}. */
    ERROR,
    /** Waits at most {@code maxWait} for the clock to catch up. */
    WAIT,
    /** Continues in another clock sequence, in layouts that have clock sequences. */
    CLOCK_SEQUENCE
}
