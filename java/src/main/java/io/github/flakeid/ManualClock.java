package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Instant;

/**
 * A clock that moves only when it is set or advanced, for tests of code that generates IDs. A wait advances the
 * clock.
 */
public final class ManualClock {
    private final long handle;

    /** Creates a clock that reads the given instant, truncated to milliseconds. */
    public ManualClock(Instant time) {
        handle = Native.clockNew(time.toEpochMilli());
        Native.freed(this, handle, Native::clockFree);
    }

    long handle() {
        return handle;
    }

    /** Sets the clock forward or back. */
    public void set(Instant time) {
        try {
            Native.clockSet(handle, time.toEpochMilli());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The instant that the clock reads. */
    public Instant time() {
        try {
            return Instant.ofEpochMilli(Native.clockGet(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
