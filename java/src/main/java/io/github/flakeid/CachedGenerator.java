package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Duration;

/** A thread-safe ring of IDs that a library thread generates in advance, similar to Baidu's cached generator. */
public final class CachedGenerator implements AutoCloseable {
    private final long handle;
    /**
     * The generator that fills the ring. This reference prevents the garbage collector from freeing the generator
     * before the ring.
     */
    private final Generator generator;

    private CachedGenerator(Generator generator, long handle) {
        this.generator = generator;
        this.handle = handle;
        Native.freed(this, handle, Native::cachedFree);
    }

    /** The options of a ring. */
    public static final class Builder {
        private final Generator generator;
        private final Settings settings = new Settings();

        Builder(Generator generator) {
            this.generator = generator;
        }

        // [options: ring own except on_rejected_put on_rejected_take]
        /**
         * Sets the exponent k, from 0 to 20, that determines the ring's capacity; the default is 3. The capacity is the
         * number of IDs in 2^k full ticks, limited to the range from 2 to 2^20.
         */
        public Builder boostPower(int boostPower) {
            settings.number("boost_power", boostPower);
            return this;
        }

        /** Sets the percentage of the ring's capacity below which the ring is refilled: 1 to 99; the default is 50. */
        public Builder paddingFactor(int paddingFactor) {
            settings.number("padding_factor", paddingFactor);
            return this;
        }

        /**
         * Sets the interval at which the ring is refilled even if enough IDs are left: at least 1 ms; the default is a
         * refill only when too few IDs are left. Regular refills keep the IDs of a rarely used ring fresh.
         */
        public Builder refillInterval(Duration refillInterval) {
            settings.duration("refill_interval_ms", "refillInterval", refillInterval);
            return this;
        }

        /**
         * Sets the maximum age of an ID that the ring returns: at least two ticks; the default is 1 s or two ticks,
         * whichever is longer. The age is measured from the beginning of the ID's tick. Older IDs are dropped and
         * counted.
         */
        public Builder maxAge(Duration maxAge) {
            settings.duration("max_age_ms", "maxAge", maxAge);
            return this;
        }
        // [/options]

        /** Creates the ring, fills it, and starts its thread. */
        public CachedGenerator open() {
            try {
                return new CachedGenerator(
                        generator,
                        Native.cachedOpen(generator.handle(), settings.toArray()));
            } finally {
                Reference.reachabilityFence(generator);
            }
        }
    }

    /**
     * Returns the next ID. Waits for a refill if the ring is empty.
     *
     * @throws FlakeidException {@code FLAKEID_RING_EMPTY}, {@code FLAKEID_CLOSED}, and the codes of {@link
     *     Generator#nextId}
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
     * The contents and counters of a ring.
     *
     * @param capacity the number of IDs that the ring can hold
     * @param size the number of IDs in the ring now
     * @param taken the number of IDs that the ring has returned
     * @param droppedStale the number of IDs that were dropped because they were too old
     * @param rejectedPut the number of refills that the generator refused for a reason other than a full tick
     * @param rejectedTake the number of calls that returned no ID for a reason other than a closed ring
     * @param refills the number of refills after the ring was first filled
     */
    public record Stats(
            long capacity,
            long size,
            long taken,
            long droppedStale,
            long rejectedPut,
            long rejectedTake,
            long refills) {}

    /** Returns the contents and counters of the ring. */
    public Stats stats() {
        try {
            long[] n = Native.cachedStats(handle);
            return new Stats(n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The generator that fills the ring. */
    public Generator generator() {
        return generator;
    }

    /**
     * Closes the ring and ends its thread. Every later call fails with {@code FLAKEID_CLOSED}, and the remaining IDs
     * are never issued. The generator stays open. The memory is freed when the ring is garbage collected.
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
