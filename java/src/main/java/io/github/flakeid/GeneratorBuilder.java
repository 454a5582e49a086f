package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Duration;

/** The options of a generator on a fixed node. The node has no default: set a node, or a datacenter and a worker. */
public final class GeneratorBuilder extends Options<GeneratorBuilder> {
    private ManualClock manual;

    GeneratorBuilder() {}

    @Override
    GeneratorBuilder self() {
        return this;
    }

    /** Sets a manual clock as the generator's clock, for tests. */
    public GeneratorBuilder clock(ManualClock clock) {
        manual = clock;
        return this;
    }

    // [options: generator own]
    /**
     * Sets several different nodes instead of one; the default is one node. The number of nodes must be a power of
     * two. In every tick, the generator can then issue the IDs of all these nodes. Several nodes cannot be combined
     * with {@code sequenceMask} or with layouts that have clock sequences. Within a process, a node must be used
     * either alone or always together with the same other nodes.
     */
    public GeneratorBuilder nodes(long... nodes) {
        settings.numbers("nodes", nodes);
        return this;
    }

    /**
     * Sets the range of ticks that a lease allows the generator to use, including the start and excluding the
     * fence; the default is all ticks.
     */
    public GeneratorBuilder window(long start, long fence) {
        settings.number("window_start", start);
        settings.number("window_fence", fence);
        return this;
    }

    /** Sets the longest time by which IDs in a window may be ahead of the clock; the default is 20 s. */
    public GeneratorBuilder maxAhead(Duration maxAhead) {
        settings.duration("max_ahead_ms", "maxAhead", maxAhead);
        return this;
    }
    // [/options]

    /**
     * Creates the generator.
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
