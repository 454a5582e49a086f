package io.github.flakeid;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** What the options of fixed and of leased generators have in common. */
abstract class Options<B extends Options<B>> {
    private static final int NANOS_PER_MS = 1_000_000;

    final long[] numbers = new long[15];
    int has;
    byte[] layout;
    byte[] clockName;

    abstract B self();

    B number(int flag, int place, long value) {
        has |= flag;
        numbers[place] = value;
        return self();
    }

    B duration(int flag, int place, String name, Duration value) {
        return number(flag, place, millis(name, value));
    }

    /** A length of time as the library takes it. What is too long for a number is as good as for ever. */
    static long millis(String name, Duration value) {
        if (value.isNegative() || value.getNano() % NANOS_PER_MS != 0) {
            String range = "must be a whole number of milliseconds from 0 to 2^63 - 1";
            throw FlakeidException.outOfRange(name, name + " " + value + " is out of range: " + range);
        }
        try {
            return value.toMillis();
        } catch (ArithmeticException tooLong) {
            return Long.MAX_VALUE;
        }
    }

    /** The layout: Twitter's unless set. */
    public B layout(Layout layout) {
        this.layout = layout.utf8();
        return self();
    }

    /** The layout by a preset's name or a descriptor. */
    public B layout(String layout) {
        this.layout = Native.utf8(Objects.requireNonNull(layout, "layout"));
        return self();
    }

    /** The node, from 0 to the layout's largest. */
    public B node(long node) {
        return number(Native.HAS_NODE, Native.NODE, node);
    }

    /** The high part of the node, in layouts that split it. */
    public B datacenter(long datacenter) {
        return number(Native.HAS_DATACENTER, Native.DATACENTER, datacenter);
    }

    /** The low part of the node, in layouts that split it. */
    public B worker(long worker) {
        return number(Native.HAS_WORKER, Native.WORKER, worker);
    }

    /** The instant of tick 0, instead of the layout's. */
    public B epoch(Instant epoch) {
        return number(Native.HAS_EPOCH, Native.EPOCH, epoch.toEpochMilli());
    }

    /** The largest sequence number to use, 2^k - 1. */
    public B sequenceMask(long mask) {
        return number(Native.HAS_SEQUENCE_MASK, Native.SEQUENCE_MASK, mask);
    }

    /** Begin each tick at a random sequence number of at most this many bits; 0 unless set. */
    public B sequenceStart(int bits) {
        return number(0, Native.SEQUENCE_START, bits);
    }

    /** What to do when a tick is full: {@link Overflow#WAIT} unless set. */
    public B overflow(Overflow overflow) {
        return number(0, Native.OVERFLOW, overflow.ordinal());
    }

    /** What to do when the clock goes back: {@link Rollback#CONTINUE} unless set. */
    public B rollback(Rollback rollback) {
        return number(0, Native.ROLLBACK, rollback.ordinal());
    }

    /** How long a call waits without issuing an ID: 1 s or two ticks unless set, whichever is longer. */
    public B maxWait(Duration maxWait) {
        return duration(Native.HAS_MAX_WAIT, Native.MAX_WAIT, "max_wait", maxWait);
    }

    /** The system's clock by name: {@code gated} unless set, {@code system} or {@code coarse}. */
    public B clock(String name) {
        clockName = Native.utf8(Objects.requireNonNull(name, "name"));
        return self();
    }
}
