package io.github.flakeid;

import java.lang.ref.Reference;

/**
 * A handle to a generator, for one thread. The handle reserves IDs in chunks. The handle's IDs increase and differ from
 * all other IDs, but are not ordered relative to IDs from other threads. The times in the IDs lag by at most a few
 * milliseconds. A handle to a generator on a fixed node remains usable after the generator has been closed.
 */
public final class LocalGenerator {
    private final long handle;

    LocalGenerator(long handle) {
        this.handle = handle;
        Native.freed(this, handle, Native::localFree);
    }

    /** Returns the next ID. The method is synchronized, because only one thread at a time may use the handle. */
    public synchronized long nextId() {
        try {
            return Native.localNext(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
