package io.github.flakeid;

/** What to do when the clock goes back. */
public enum Rollback {
    /** Use up the tick that was reached, then wait; in a window, go on to the next ticks. The default. */
    CONTINUE,
    /** {@code FLAKEID_CLOCK_ROLLBACK} at once. */
    ERROR,
    /** Wait, as long as the generator may. */
    WAIT,
    /** Go on in another clock sequence, in layouts that have one. */
    CLOCK_SEQUENCE
}
