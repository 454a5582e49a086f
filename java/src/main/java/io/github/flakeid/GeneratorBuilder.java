package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Duration;

/** The options of a generator on a fixed node. There is no default node: give one, or a datacenter and a worker. */
public final class GeneratorBuilder extends Options<GeneratorBuilder> {
    private ManualClock manual;
    private long[] nodes;

    GeneratorBuilder() {}

    @Override
    GeneratorBuilder self() {
        return this;
    }

    /** Several nodes instead of one, a power of two of them: as many times as many IDs in a tick. */
    public GeneratorBuilder nodes(long... nodes) {
        this.nodes = nodes.clone();
        return this;
    }

    /** A clock for tests. */
    public GeneratorBuilder clock(ManualClock clock) {
        manual = clock;
        return this;
    }

    /** How far ahead of the clock a window may be used: 20 s unless set. */
    public GeneratorBuilder maxAhead(Duration maxAhead) {
        return duration(Native.HAS_MAX_AHEAD, Native.MAX_AHEAD, "max_ahead", maxAhead);
    }

    /** The ticks that may be used, the fence not among them. */
    public GeneratorBuilder window(long start, long fence) {
        number(Native.HAS_WINDOW, Native.WINDOW_START, start);
        return number(Native.HAS_WINDOW, Native.WINDOW_FENCE, fence);
    }

    /**
     * Makes the generator.
     *
     * @throws FlakeidException {@code FLAKEID_FIELD_OUT_OF_RANGE}, {@code FLAKEID_INVALID_OPTION}, {@code
     *     FLAKEID_INVALID_LAYOUT}, {@code FLAKEID_HORIZON_REACHED}
     */
    public Generator build() {
        long clock = manual == null ? 0 : manual.handle();
        try {
            return new Generator(Native.generatorNew(layout, clockName, clock, has, numbers, nodes));
        } finally {
            Reference.reachabilityFence(manual);
        }
    }
}
