package io.github.flakeid;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** The options that generators on fixed nodes and on leased nodes have in common. */
abstract class Options<B extends Options<B>> {
    final Settings settings = new Settings();

    abstract B self();

    /** Sets the layout of the IDs, in the same way as {@link #layout(String)}. */
    public B layout(Layout layout) {
        return layout(layout.toString());
    }

    // [options: generator shared]
    /**
     * Sets the node, from 0 to the layout's largest node; there is no default, because no other generator may use
     * the same node at the same time. In a {@link LeaseBuilder}, this method sets the node to lease; the default is
     * any node. Taking over the node is safe even while another process holds it.
     */
    public B node(long node) {
        settings.number("node", node);
        return self();
    }

    /** Sets the high part of the node, in layouts that split the node; must be set together with {@code worker}. */
    public B datacenter(long datacenter) {
        settings.number("datacenter", datacenter);
        return self();
    }

    /**
     * Sets the low part of the node, in layouts that split the node; must be set together with {@code datacenter}.
     */
    public B worker(long worker) {
        settings.number("worker", worker);
        return self();
    }

    /**
     * Sets the layout of the IDs: a preset's name or a descriptor; the default is {@code twitter}. A lease must use
     * the layout of its namespace.
     */
    public B layout(String layout) {
        settings.text("layout", "layout", layout);
        return self();
    }

    /** Sets the instant of tick 0; the default is the layout's epoch. */
    public B epoch(Instant epoch) {
        settings.set("epoch", Long.toString(Native.unixMs("epoch", epoch)));
        return self();
    }

    /**
     * Sets the behaviour when a tick has no IDs left; the default is {@link Overflow#WAIT}. {@link Overflow#BORROW}
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

    /**
     * Sets the largest sequence number to use, which must have the form 2^k - 1; the default is the layout's
     * largest sequence number.
     */
    public B sequenceMask(long sequenceMask) {
        settings.number("sequence_mask", sequenceMask);
        return self();
    }

    /** Sets the number of random bits in the first sequence number of each tick; the default is 0. */
    public B sequenceStart(int sequenceStart) {
        settings.number("sequence_start", sequenceStart);
        return self();
    }

    /**
     * Sets the longest time that a call waits without issuing an ID; the default is 1 s or two ticks, whichever is
     * longer. Opening a lease may take up to 2 s longer because of the connection to the store, or as long as
     * {@code openWait} if the store grants nothing after a restart.
     */
    public B maxWait(Duration maxWait) {
        settings.duration("max_wait_ms", "maxWait", maxWait);
        return self();
    }

    /**
     * Sets the clock: {@code gated}, {@code system} or {@code coarse}; the default is {@code gated}. With {@code
     * gated}, the time is exact, and on suitable processors the system clock is read only a few times per
     * millisecond. With {@code system}, the system clock is read for every ID. With {@code coarse}, the time lags
     * behind the system clock by a few milliseconds, and is never ahead of the system clock.
     */
    public B clock(String clock) {
        settings.text("clock", "clock", clock);
        return self();
    }
    // [/options]
}
