package io.github.flakeid;

import java.lang.ref.Reference;

/**
 * A handle of one thread on a generator, which reserves blocks of IDs. Its IDs increase and differ from all others, but
 * are not in order with those of other threads; their times are late by a few milliseconds at most. It goes on when the
 * generator of a fixed node is closed.
 */
public final class LocalGenerator {
    private final long handle;

    LocalGenerator(long handle) {
        this.handle = handle;
        Native.freed(this, handle, Native::localFree);
    }

    /** The next ID, for one thread at a time: it locks nothing else out but a second thread. */
    public synchronized long nextId() {
        try {
            return Native.localNext(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
