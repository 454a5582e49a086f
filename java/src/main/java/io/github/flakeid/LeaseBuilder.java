package io.github.flakeid;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/** The options of a generator whose node is leased from a store. */
public final class LeaseBuilder extends Options<LeaseBuilder> {
    private final byte[] url;
    private byte[] namespace;
    private byte[] name;
    private Consumer<LeaseEvent> observer;

    LeaseBuilder(String url) {
        this.url = Native.utf8(url);
    }

    @Override
    LeaseBuilder self() {
        return this;
    }

    /** The ID space in the store: {@code default} unless set. */
    public LeaseBuilder namespace(String namespace) {
        this.namespace = Native.utf8(Objects.requireNonNull(namespace, "namespace"));
        return this;
    }

    /** The name of this process, by which it gets the node again that it had last. */
    public LeaseBuilder name(String name) {
        this.name = Native.utf8(Objects.requireNonNull(name, "name"));
        return this;
    }

    /** Lease one of these nodes, both ends among them, and no other. */
    public LeaseBuilder nodes(long first, long last) {
        number(Native.HAS_NODES, Native.FIRST_NODE, first);
        return number(Native.HAS_NODES, Native.LAST_NODE, last);
    }

    /** How many nodes to lease for this one generator, a power of two. */
    public LeaseBuilder nodeCount(int count) {
        if (count < 1) {
            throw FlakeidException.outOfRange("node_count", count, 1, Integer.MAX_VALUE);
        }
        return number(0, Native.NODE_COUNT, count);
    }

    /** How many ticks' time is asked for at a time. */
    public LeaseBuilder window(Duration window) {
        return duration(Native.HAS_WINDOW_MS, Native.WINDOW_MS, "window", window);
    }

    /** After how long without a renewal others may have the node. */
    public LeaseBuilder ttl(Duration ttl) {
        return duration(Native.HAS_TTL, Native.TTL, "ttl", ttl);
    }

    /** Whether a name gets the node again that it had last; true unless set. */
    public LeaseBuilder reuse(boolean reuse) {
        return number(0, Native.NEVER_REUSE, reuse ? 0 : 1);
    }

    /**
     * A function that gets what happens to the lease, one event at a time, on a thread that is its own: it may take its time
     * and close the generator. What it throws goes to the handler of uncaught exceptions, and the next event follows. {@link
     * Generator#close} hands over what has happened until then, waiting for at most 1 s, and no call begins after it. A lease
     * with a function is not shared with other generators. A generator that the function refers to is not freed until it is
     * closed.
     */
    public LeaseBuilder onEvent(Consumer<LeaseEvent> observer) {
        this.observer = Objects.requireNonNull(observer, "observer");
        return this;
    }

    /**
     * Leases the node. Waits at most {@code maxWait} plus 2 s.
     *
     * @throws FlakeidException {@code FLAKEID_STORE_UNAVAILABLE}, {@code FLAKEID_STORE_REJECTED}, {@code
     *     FLAKEID_NO_FREE_NODE}, {@code FLAKEID_CLOCK_SKEW}, {@code FLAKEID_FENCE_IN_FUTURE}, and those of {@link
     *     GeneratorBuilder#build}
     */
    public Generator open() {
        LeaseEvents events = observer == null ? null : new LeaseEvents(observer);
        long listener = events == null ? 0 : events.listener();
        try {
            return new Generator(
                    Native.generatorOpen(url, layout, namespace, name, clockName, has, numbers, listener), events);
        } catch (Throwable failure) {
            if (events != null) {
                events.free();
            }
            throw failure;
        }
    }
}
