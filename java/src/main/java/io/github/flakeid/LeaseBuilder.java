package io.github.flakeid;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/** The options of a generator whose node is leased from a store. */
public final class LeaseBuilder extends Options<LeaseBuilder> {
    private final byte[] url;
    private Consumer<LeaseEvent> observer;

    LeaseBuilder(String url) {
        this.url = Native.utf8(url);
    }

    @Override
    LeaseBuilder self() {
        return this;
    }

    // [options: lease own except on_event]
    /**
     * Sets the namespace to lease from: 1 to 64 of {@code A-Z a-z 0-9 . _ -}; the default is {@code default}. Each
     * namespace has one layout, and nodes of its own.
     */
    public LeaseBuilder namespace(String namespace) {
        settings.text("namespace", "namespace", namespace);
        return this;
    }

    /**
     * Sets the name of this process, by which it prefers the node that it had last: 1 to 128 bytes; the default is
     * none.
     */
    public LeaseBuilder name(String name) {
        settings.text("name", "name", name);
        return this;
    }

    /** Sets the range of nodes to choose from, both ends inclusive; the default is all nodes of the layout. */
    public LeaseBuilder nodes(long from, long to) {
        settings.number("nodes_from", from);
        settings.number("nodes_to", to);
        return this;
    }

    /**
     * Sets the number of nodes to lease for this one generator, a power of two, for as many times the IDs in a
     * tick; the default is 1. Several nodes cannot be combined with {@code name}, {@code node} or {@code
     * sequenceMask}.
     */
    public LeaseBuilder nodeCount(int nodeCount) {
        settings.number("node_count", "nodeCount", 1, nodeCount);
        return this;
    }

    /**
     * Sets the time after the last renewal until other processes can have the node: 1 ms to 30 days; the default is
     * 60 s or 12 ticks, whichever is longer. Uniqueness does not depend on it.
     */
    public LeaseBuilder ttl(Duration ttl) {
        settings.duration("ttl_ms", "ttl", ttl);
        return this;
    }

    /**
     * Sets the time for which the generator issues IDs while the store is away: from two ticks to what the
     * namespace allows; the default is 10 s or two ticks, whichever is longer.
     */
    public LeaseBuilder window(Duration window) {
        settings.duration("window_ms", "window", window);
        return this;
    }

    /**
     * Sets whether a node may be leased that was leased before; the default is true. Otherwise each start uses up a
     * node, until none is left.
     */
    public LeaseBuilder reuse(boolean reuse) {
        settings.flag("reuse", reuse);
        return this;
    }
    // [/options]

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
                    Native.generatorOpen(url, settings.toArray(), listener), events);
        } catch (Throwable failure) {
            if (events != null) {
                events.free();
            }
            throw failure;
        }
    }
}
