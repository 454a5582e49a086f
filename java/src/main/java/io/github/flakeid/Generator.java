package io.github.flakeid;

import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/**
 * A generator of IDs for one or several nodes. The IDs are unique and strictly increase across all threads. Any number
 * of threads may use a generator at the same time, even while another thread closes the generator.
 *
 * <p>IDs are {@code long}s. IDs of a 64-bit layout must be read as unsigned numbers (see {@link Layout#positiveUntil}).
 */
public final class Generator implements AutoCloseable {
    private final long handle;
    /** The receiver of the lease's events; null if the program set no function for events. */
    private final LeaseEvents events;

    /** Creates a generator on a fixed node. */
    Generator(long handle) {
        this.handle = handle;
        this.events = null;
        // The cleaner, not close(), frees the memory, because close() cannot determine which calls by other threads are
        // pending.
        Native.freed(this, handle, Native::generatorFree);
    }

    /** Creates a generator on leased nodes. */
    Generator(long handle, LeaseEvents events) {
        this.handle = handle;
        this.events = events;
        Native.freed(this, handle, unused -> freeInBackground(unused, events));
    }

    /**
     * Frees a generator on a separate thread, because the release of a leased node may take a second and would block
     * the cleaner.
     */
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

    /**
     * Returns a builder for a generator on a fixed node. The program must ensure that no other process uses the same
     * node. To let a store ensure this, use {@link #lease} instead.
     */
    public static GeneratorBuilder builder() {
        return new GeneratorBuilder();
    }

    /** Creates a generator with Twitter's layout on a fixed node. */
    public static Generator of(long node) {
        return builder().node(node).build();
    }

    /**
     * Returns a builder for a lease from the store at a URL, such as {@code sqlite:///path}, {@code postgresql://…}
     * or {@code http://…}.
     */
    public static LeaseBuilder lease(String url) {
        return new LeaseBuilder(Objects.requireNonNull(url, "url"));
    }

    /**
     * Returns a builder for a lease that is configured by environment variables: {@code FLAKEID_STORE} contains the URL
     * of the store, and {@code FLAKEID_NAMESPACE} contains the namespace. If {@code FLAKEID_STORE} is not set, the
     * lease comes from the store that root has named in {@code /etc/flakeid/store}, or else from the embedded store of
     * this user.
     */
    public static LeaseBuilder lease() {
        return new LeaseBuilder(null);
    }

    /**
     * Returns a builder that creates a namespace in the store at a URL. The name consists of 1 to 64 characters of
     * {@code A-Z a-z 0-9 . _ -}.
     */
    public static NamespaceBuilder namespace(String url, String name) {
        return new NamespaceBuilder(url, name);
    }

    /**
     * Returns the next ID. If no ID is available, sleeps for at most the generator's {@code maxWait}. An interrupt of the
     * thread ends a longer sleep within 200 ms, as if {@code maxWait} had passed, and the thread remains interrupted.
     * The same applies to every other method that waits for IDs.
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

    /**
     * Returns the next ID without waiting. On failure, {@link FlakeidException#retryAfter} returns how long to wait
     * before retrying.
     */
    public long tryNextId() {
        try {
            long id = Foreign.next(handle);
            return id == Foreign.NONE ? Native.tryNext(handle) : id;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Fills an array with the next IDs, in order, and returns the number of IDs written. The number is smaller than the
     * array's length only if the generator cannot issue another ID within {@code maxWait}. The next call then reports
     * the error.
     */
    public int fill(long[] ids) {
        return fill(ids, 0, ids.length, true);
    }

    /**
     * Fills an array with the next IDs, in order, as far as IDs are available without waiting. Returns the number of
     * IDs written.
     */
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

    /** Returns the next {@code count} IDs, in order. If the method throws, the IDs generated so far are lost. */
    public long[] nextIds(int count) {
        if (count < 0) {
            throw FlakeidException.outOfRange("count", count, 0, Integer.MAX_VALUE);
        }
        long[] ids = new long[count];
        for (int filled = 0; filled < count; ) {
            filled += fill(ids, filled, count, filled == 0 || !Thread.currentThread().isInterrupted());
        }
        return ids;
    }

    /** Returns an infinite stream of IDs, each generated when it is requested. */
    public LongStream ids() {
        return LongStream.generate(this::nextId);
    }

    /**
     * Creates a faster handle to the generator, for use by one thread. The times in the handle's IDs may lag by a few
     * milliseconds.
     */
    public LocalGenerator local() {
        try {
            return new LocalGenerator(Native.localOpen(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Creates a ring with the default options. The ring contains IDs that are generated in advance. */
    public CachedGenerator cached() {
        return new CachedGenerator.Builder(this).open();
    }

    /** Returns a builder for a ring of IDs generated in advance. */
    public CachedGenerator.Builder cachedBuilder() {
        return new CachedGenerator.Builder(this);
    }

    long handle() {
        return handle;
    }

    /** The node in the generator's IDs, or the smallest node if the generator has several nodes. */
    public long node() {
        try {
            return Native.node(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** All nodes that the generator's IDs can contain, in increasing order. */
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

    /** Returns the counters of the generator. */
    public Stats stats() {
        try {
            long[] n = Native.stats(handle);
            return new Stats(n[0], n[1], n[2]);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the state of the generator's lease.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_OPTION} if the generator is on a fixed node
     */
    public LeaseStatus leaseStatus() {
        try {
            return LeaseStatus.of(Native.lease(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Extends the generator's window to a later fence. {@link GeneratorBuilder#window} sets the original window. */
    public void extend(long fence) {
        try {
            Native.extend(handle, fence);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Retires a generator on a fixed node. Returns the tick of the generator's last ID, or an empty value if the
     * generator issued no ID.
     */
    public OptionalLong retire() {
        try {
            long tick = Native.retire(handle);
            return tick == -1 ? OptionalLong.empty() : OptionalLong.of(tick);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes the generator and releases its leased nodes. Every later call fails with {@code FLAKEID_CLOSED}. */
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
