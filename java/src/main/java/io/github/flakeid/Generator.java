package io.github.flakeid;

import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/**
 * Makes the IDs of one node, or several: unique, and strictly increasing across all threads. Any number of threads may
 * use it at the same time, also while it is closed.
 *
 * <p>IDs are {@code long}s, to be read as unsigned where the layout has 64 bits ({@link Layout#positiveUntil}).
 */
public final class Generator implements AutoCloseable {
    private final long handle;
    /** Who is told what happens to the lease, or null. */
    private final LeaseEvents events;

    /** On a fixed node. */
    Generator(long handle) {
        this.handle = handle;
        this.events = null;
        // Not by close(), which cannot know which calls of other threads are under way.
        Native.freed(this, handle, Native::generatorFree);
    }

    /** On leased ones. */
    Generator(long handle, LeaseEvents events) {
        this.handle = handle;
        this.events = events;
        Native.freed(this, handle, unused -> freeInBackground(unused, events));
    }

    /** It may take a second to give a node back, for which the cleaner would free nothing else. */
    private static void freeInBackground(long handle, LeaseEvents events) {
        Thread thread = new Thread(() -> free(handle, events), "flakeid-release");
        thread.setDaemon(true);
        thread.start();
    }

    private static void free(long handle, LeaseEvents events) {
        Native.generatorFree(handle);
        if (events != null) {
            events.free();
        }
    }

    /** Starts a generator on a fixed node. No other process may use the node; with {@link #lease} the store sees to that. */
    public static GeneratorBuilder builder() {
        return new GeneratorBuilder();
    }

    /** A generator of Twitter's layout on a fixed node. */
    public static Generator of(long node) {
        return builder().node(node).build();
    }

    /** Starts a lease of a node from a store: {@code sqlite:///path}, {@code postgresql://…}, {@code http://…} and so on. */
    public static LeaseBuilder lease(String url) {
        return new LeaseBuilder(Objects.requireNonNull(url, "url"));
    }

    /**
     * Starts a lease from what {@code FLAKEID_STORE} and {@code FLAKEID_NAMESPACE} name in the environment, or else from
     * the embedded store of this user on this host.
     */
    public static LeaseBuilder lease() {
        return new LeaseBuilder(null);
    }

    /**
     * The next ID. Waits, asleep, as long as the generator may.
     *
     * @throws FlakeidException {@code FLAKEID_SEQUENCE_EXHAUSTED}, {@code FLAKEID_CLOCK_ROLLBACK}, {@code
     *     FLAKEID_HORIZON_REACHED}, {@code FLAKEID_LEASE_EXPIRED}, {@code FLAKEID_CLOSED}, {@code FLAKEID_FORKED}
     */
    public long nextId() {
        try {
            long id = Foreign.next(handle);
            return id == Foreign.NONE ? Native.next(handle) : id;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The next ID, without ever waiting; {@link FlakeidException#retryAfter} says when to try again. */
    public long tryNextId() {
        try {
            long id = Foreign.next(handle);
            return id == Foreign.NONE ? Native.tryNext(handle) : id;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Fills an array with the next IDs, in order, and returns how many: fewer only if an obstacle outlasted the time that
     * the generator may wait, which the next call reports.
     */
    public int fill(long[] ids) {
        return fill(ids, 0, ids.length, true);
    }

    /** As {@link #fill(long[])}, without ever waiting. */
    public int tryFill(long[] ids) {
        return fill(ids, 0, ids.length, false);
    }

    private int fill(long[] ids, int from, int to, boolean waits) {
        try {
            return Native.fill(handle, ids, from, to, waits);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The next IDs, in order: all of them, or an exception, and those that were made until then are lost. */
    public long[] nextIds(int count) {
        if (count < 0) {
            throw FlakeidException.outOfRange("count", count, 0, Integer.MAX_VALUE);
        }
        long[] ids = new long[count];
        for (int filled = 0; filled < count; ) {
            filled += fill(ids, filled, count, true);
        }
        return ids;
    }

    /** IDs without end, each made when it is asked for. */
    public LongStream ids() {
        return LongStream.generate(this::nextId);
    }

    /** A handle for one thread that is quicker: times in its IDs may be a few milliseconds late. */
    public LocalGenerator local() {
        try {
            return new LocalGenerator(Native.localOpen(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** A ring of IDs made beforehand, with the usual options. */
    public CachedGenerator cached() {
        return new CachedGenerator.Builder(this).open();
    }

    /** Starts a ring of IDs made beforehand. */
    public CachedGenerator.Builder cachedBuilder() {
        return new CachedGenerator.Builder(this);
    }

    long handle() {
        return handle;
    }

    /** The node in the IDs; the smallest of several. */
    public long node() {
        try {
            return Native.node(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** All nodes in the IDs, in rising order. */
    public long[] nodes() {
        try {
            return Native.nodes(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The layout of the IDs. */
    public Layout layout() {
        try {
            return Layout.of(Native.layoutOf(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** What happened besides issuing IDs. */
    public Stats stats() {
        try {
            long[] n = Native.stats(handle);
            return new Stats(n[0], n[1], n[2]);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state of the lease.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_OPTION} of a generator on a fixed node
     */
    public LeaseStatus leaseStatus() {
        try {
            return LeaseStatus.of(Native.lease(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Raises the end of a window that {@link GeneratorBuilder#window} gave. */
    public void extend(long fence) {
        try {
            Native.extend(handle, fence);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Ends a generator on a fixed node, and says in which tick it made its last ID, if it made any. */
    public OptionalLong retire() {
        try {
            long tick = Native.retire(handle);
            return tick == -1 ? OptionalLong.empty() : OptionalLong.of(tick);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Ends it: every later call is {@code FLAKEID_CLOSED}. A leased node is given back. */
    @Override
    public void close() {
        try {
            Native.generatorClose(handle);
        } finally {
            Reference.reachabilityFence(this);
            if (events != null) {
                events.close();
            }
        }
    }

    @Override
    public String toString() {
        return "Generator[" + layout() + ", nodes " + Arrays.toString(nodes()) + "]";
    }
}
