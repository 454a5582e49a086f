package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Instant;

/** A clock that stands still until it is told otherwise, for tests of code that makes IDs. Waiting moves it on. */
public final class ManualClock {
    private final long handle;

    /** A clock that reads this instant, cut to milliseconds. */
    public ManualClock(Instant time) {
        handle = Native.clockNew(time.toEpochMilli());
        Native.freed(this, handle, Native::clockFree);
    }

    long handle() {
        return handle;
    }

    /** Sets it, forward or back. */
    public void set(Instant time) {
        try {
            Native.clockSet(handle, time.toEpochMilli());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** What it reads. */
    public Instant time() {
        try {
            return Instant.ofEpochMilli(Native.clockGet(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
