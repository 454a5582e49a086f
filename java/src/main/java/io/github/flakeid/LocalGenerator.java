package io.github.flakeid;

import java.lang.ref.Reference;

/**
 * A handle of a generator for one thread, which reserves chunks of IDs. Its IDs increase and differ from all other
 * IDs, but are not ordered relative to IDs from other threads. The times in its IDs lag by at most a few
 * milliseconds. The handle of a generator on a fixed node remains usable when the generator is closed.
 */
public final class LocalGenerator {
    private final long handle;

    LocalGenerator(long handle) {
        this.handle = handle;
        Native.freed(this, handle, Native::localFree);
    }

    /** Returns the next ID. Only one thread at a time may call this method, so it is synchronized. */
    public synchronized long nextId() {
        try {
            return Native.localNext(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
