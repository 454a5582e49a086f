package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Duration;

/** A ring of IDs made beforehand by a thread of the library, as Baidu's cached generator. For any number of threads. */
public final class CachedGenerator implements AutoCloseable {
    private final long handle;
    /** The ring refers to the generator by itself; this keeps what the generator's owner does from freeing it first. */
    private final Generator generator;

    private CachedGenerator(Generator generator, long handle) {
        this.generator = generator;
        this.handle = handle;
        Native.freed(this, handle, Native::cachedFree);
    }

    /** The options of a ring. */
    public static final class Builder {
        private final Generator generator;
        private int has;
        private int boostPower;
        private int paddingFactor;
        private long refillInterval;
        private long maxAge;

        Builder(Generator generator) {
            this.generator = generator;
        }

        /** The ring holds the IDs of 2^power full ticks: 3 unless set, from 0 to 20. */
        public Builder boostPower(int power) {
            has |= Native.HAS_BOOST_POWER;
            boostPower = power;
            return this;
        }

        /** Refill when fewer than this many percent are left: 50 unless set, from 1 to 99. */
        public Builder paddingFactor(int percent) {
            has |= Native.HAS_PADDING_FACTOR;
            paddingFactor = percent;
            return this;
        }

        /** Also refill this often, at least 1 ms; only when too few are left unless set. */
        public Builder refillInterval(Duration interval) {
            has |= Native.HAS_REFILL_INTERVAL;
            refillInterval = Options.millis("refill_interval", interval);
            return this;
        }

        /** How old an ID may be when it is handed out: 1 s unless set, or two ticks. */
        public Builder maxAge(Duration age) {
            has |= Native.HAS_MAX_AGE;
            maxAge = Options.millis("max_age", age);
            return this;
        }

        /** Fills the ring. */
        public CachedGenerator open() {
            try {
                return new CachedGenerator(
                        generator,
                        Native.cachedOpen(
                                generator.handle(), has, boostPower, paddingFactor, refillInterval, maxAge));
            } finally {
                Reference.reachabilityFence(generator);
            }
        }
    }

    /**
     * The next ID, waiting for a refill if the ring is empty.
     *
     * @throws FlakeidException {@code FLAKEID_RING_EMPTY}, {@code FLAKEID_CLOSED}, and those of {@link Generator#nextId}
     */
    public long nextId() {
        try {
            long id = Foreign.poll(handle);
            return id == Foreign.NONE ? Native.cachedNext(handle) : id;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * What the ring holds, and what happened to it.
     *
     * @param capacity IDs that it can hold
     * @param size IDs in it now
     * @param taken IDs handed out
     * @param droppedStale IDs dropped because they were too old
     * @param rejectedPut refills that the generator refused for another reason than a full tick
     * @param rejectedTake calls that got no ID for another reason than its end
     * @param refills portions put into it after the first filling
     */
    public record Stats(
            long capacity,
            long size,
            long taken,
            long droppedStale,
            long rejectedPut,
            long rejectedTake,
            long refills) {}

    /** What it holds, and what happened to it. */
    public Stats stats() {
        try {
            long[] n = Native.cachedStats(handle);
            return new Stats(n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** What its IDs come from. */
    public Generator generator() {
        return generator;
    }

    /**
     * Ends it and its thread: every later call is {@code FLAKEID_CLOSED}, and what it still held is never issued. The
     * generator goes on. Memory is freed when nothing refers to it any more.
     */
    @Override
    public void close() {
        try {
            Native.cachedClose(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
