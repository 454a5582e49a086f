package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Duration;

/** The options of a generator on a fixed node. There is no default node: give one, or a datacenter and a worker. */
public final class GeneratorBuilder extends Options<GeneratorBuilder> {
    private ManualClock manual;

    GeneratorBuilder() {}

    @Override
    GeneratorBuilder self() {
        return this;
    }

    /** A clock for tests. */
    public GeneratorBuilder clock(ManualClock clock) {
        manual = clock;
        return this;
    }

    // [options: generator own]
    /**
     * Sets several nodes instead of one, for as many times the IDs in a tick; their number must be a power of two;
     * the default is one node. Cannot be combined with {@code sequenceMask} or layouts with clock sequences. Within
     * a process a node must be used either alone or always together with the same other nodes.
     */
    public GeneratorBuilder nodes(long... nodes) {
        settings.numbers("nodes", nodes);
        return this;
    }

    /** Sets the ticks to which a lease limits the generator, the fence exclusive; the default is all ticks. */
    public GeneratorBuilder window(long start, long fence) {
        settings.number("window_start", start);
        settings.number("window_fence", fence);
        return this;
    }

    /** Sets the longest time by which IDs of a window may be ahead of the clock; the default is 20 s. */
    public GeneratorBuilder maxAhead(Duration maxAhead) {
        settings.duration("max_ahead_ms", "maxAhead", maxAhead);
        return this;
    }
    // [/options]

    /**
     * Makes the generator.
     *
     * @throws FlakeidException {@code FLAKEID_FIELD_OUT_OF_RANGE}, {@code FLAKEID_INVALID_OPTION}, {@code
     *     FLAKEID_INVALID_LAYOUT}, {@code FLAKEID_HORIZON_REACHED}
     */
    public Generator build() {
        long clock = manual == null ? 0 : manual.handle();
        try {
            return new Generator(Native.generatorNew(settings.toArray(), clock));
        } finally {
            Reference.reachabilityFence(manual);
        }
    }
}
