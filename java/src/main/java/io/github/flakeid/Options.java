package io.github.flakeid;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** The options that fixed and leased generators have in common. */
abstract class Options<B extends Options<B>> {
    final Settings settings = new Settings();

    abstract B self();

    /** Sets the layout; the default is Twitter's. */
    public B layout(Layout layout) {
        settings.set("layout", layout.toString());
        return self();
    }

    /** Sets the layout by the name of a preset or a descriptor. */
    public B layout(String layout) {
        settings.text("layout", "layout", layout);
        return self();
    }

    /** Sets the instant of tick 0; the default is the layout's. */
    public B epoch(Instant epoch) {
        settings.set("epoch", Long.toString(epoch.toEpochMilli()));
        return self();
    }

    // [options: generator shared except layout epoch]
    /**
     * Sets the node, from 0 to the layout's largest; there is no default, because no other generator may have it at
     * the same time. Of a lease, it sets the node to lease, which is taken over even from a live holder; that is
     * safe; the default is any node.
     */
    public B node(long node) {
        settings.number("node", node);
        return self();
    }

    /** Sets the high part of the node, in layouts that split it; requires {@code worker}. */
    public B datacenter(long datacenter) {
        settings.number("datacenter", datacenter);
        return self();
    }

    /** Sets the low part of the node, in layouts that split it; requires {@code datacenter}. */
    public B worker(long worker) {
        settings.number("worker", worker);
        return self();
    }

    /**
     * Sets the behaviour when a tick is full; the default is {@link Overflow#WAIT}. {@link Overflow#BORROW}
     * requires a window.
     */
    public B overflow(Overflow overflow) {
        settings.choice("overflow", overflow);
        return self();
    }

    /** Sets the behaviour when the clock goes backwards; the default is {@link Rollback#CONTINUE}. */
    public B rollback(Rollback rollback) {
        settings.choice("rollback", rollback);
        return self();
    }

    /** Sets the largest sequence number to use: 2^k - 1; the default is the layout's. */
    public B sequenceMask(long sequenceMask) {
        settings.number("sequence_mask", sequenceMask);
        return self();
    }

    /** Sets the number of bits of a random sequence number with which each tick begins; the default is 0. */
    public B sequenceStart(int sequenceStart) {
        settings.number("sequence_start", sequenceStart);
        return self();
    }

    /**
     * Sets the longest time that a call waits without issuing an ID; the default is 1 s or two ticks, whichever is
     * longer. Opening a lease takes at most 2 s more, to connect.
     */
    public B maxWait(Duration maxWait) {
        settings.duration("max_wait_ms", "maxWait", maxWait);
        return self();
    }

    /**
     * Sets the clock: {@code gated} is the system's, exact, and read only a few times a millisecond where the
     * processor allows that; {@code system} is read for every ID; {@code coarse} is a few milliseconds late; the
     * default is {@code gated}.
     */
    public B clock(String clock) {
        settings.text("clock", "clock", clock);
        return self();
    }
    // [/options]
}
