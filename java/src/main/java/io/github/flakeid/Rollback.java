package io.github.flakeid;

/** The behaviour of a generator when the clock goes backwards. */
public enum Rollback {
    /** Use up the current tick, then wait; in a window, continue with the next ticks. The default. */
    CONTINUE,
    /** Fail at once with {@code FLAKEID_CLOCK_ROLLBACK}. */
    ERROR,
    /** Wait for at most {@code maxWait}. */
    WAIT,
    /** Continue in another clock sequence, in layouts that have one. */
    CLOCK_SEQUENCE
}
