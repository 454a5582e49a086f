package io.github.flakeid;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/** The options of a generator whose node is leased from a store. */
public final class LeaseBuilder extends Options<LeaseBuilder> {
    private final byte[] url;
    private Consumer<LeaseEvent> observer;

    LeaseBuilder(String url) {
        this.url = Native.url(url);
    }

    @Override
    LeaseBuilder self() {
        return this;
    }

    // [options: lease own]
    /**
     * Sets the namespace from which to lease a node: 1 to 64 characters from the set {@code A-Z a-z 0-9 . _ -}; the
     * default is {@code default}. Each namespace has one layout and its own nodes.
     */
    public LeaseBuilder namespace(String namespace) {
        settings.text("namespace", "namespace", namespace);
        return this;
    }

    /**
     * Sets the name of this process, 1 to 128 bytes long; the default is none. If possible, the process gets the
     * last node that was leased under its name.
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
     * Sets the number of nodes to lease for this generator, which must be a power of two; the default is 1. In
     * every tick, the generator can issue the IDs of all these nodes. Several nodes cannot be combined with {@code
     * name}, {@code node} or {@code sequenceMask}.
     */
    public LeaseBuilder nodeCount(int nodeCount) {
        settings.number("node_count", "nodeCount", 1, nodeCount);
        return this;
    }

    /**
     * Sets the time for which the node stays reserved after the last renewal: 1 ms to 30 days; the default is 60 s
     * or 12 ticks, whichever is longer. Uniqueness does not depend on this time.
     */
    public LeaseBuilder ttl(Duration ttl) {
        settings.duration("ttl_ms", "ttl", ttl);
        return this;
    }

    /**
     * Sets the time for which the generator issues IDs while the store is unavailable: from two ticks to the
     * longest window that the namespace allows; the default is 10 s or two ticks, whichever is longer.
     */
    public LeaseBuilder window(Duration window) {
        settings.duration("window_ms", "window", window);
        return this;
    }

    /**
     * Sets the longest time that opening a lease waits while the store grants nothing, for example after a restart;
     * the default is 30 s. If the store would grant a node only later, opening fails at once.
     */
    public LeaseBuilder openWait(Duration openWait) {
        settings.duration("open_wait_ms", "openWait", openWait);
        return this;
    }

    /**
     * Sets whether a node that was leased before may be leased again; the default is true. Without reuse, each
     * start of the program uses up a node, until no node is left.
     */
    public LeaseBuilder reuse(boolean reuse) {
        settings.flag("reuse", reuse);
        return this;
    }

    /**
     * Sets a function that is called for each lease event, one call at a time, on the function's own thread. The
     * function may therefore run for a long time, and may close the generator. An exception that the function
     * throws goes to the handler of uncaught exceptions, and the next event is still delivered. {@code close()}
     * waits at most 1 s for the function to receive all earlier events. No call of the function begins after {@code
     * close()} has returned. A lease with an event function is not shared with other generators. A generator to
     * which the function refers is not freed until the generator is closed.
     */
    public LeaseBuilder onEvent(Consumer<LeaseEvent> observer) {
        this.observer = Objects.requireNonNull(observer, "observer");
        return this;
    }
    // [/options]

    /**
     * Leases the node, and creates the generator. Waits at most {@code maxWait} plus 2 s, or {@code openWait}
     * while a restarted store grants nothing. An interrupt of the thread ends the wait.
     *
     * @throws FlakeidException {@code FLAKEID_STORE_UNAVAILABLE}, {@code FLAKEID_STORE_REJECTED},
     *     {@code FLAKEID_NO_FREE_NODE}, {@code FLAKEID_CLOCK_SKEW}, {@code FLAKEID_FENCE_IN_FUTURE}, and the codes of
     *     {@link GeneratorBuilder#build}
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
