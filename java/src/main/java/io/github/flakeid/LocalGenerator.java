package io.github.flakeid;

import java.lang.ref.Reference;

/**
 * A handle of a generator for one thread, which reserves chunks of IDs. Its IDs increase and differ from all others,
 * but are not in order with those of other threads; their times are late by a few milliseconds at most. The handle
 * remains usable when the generator of a fixed node is closed.
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
