package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Instant;

/**
 * A clock for tests of code that generates IDs. The clock moves only when the program sets the clock, or when a
 * generator waits: the wait advances the clock immediately.
 */
public final class ManualClock {
    private final long handle;

    /** Creates a clock that shows the given instant, truncated to milliseconds. */
    public ManualClock(Instant time) {
        handle = Native.clockNew(Native.unixMs("time", time));
        Native.freed(this, handle, Native::clockFree);
    }

    long handle() {
        return handle;
    }

    /** Sets the clock to a later or earlier instant. */
    public void set(Instant time) {
        try {
            Native.clockSet(handle, Native.unixMs("time", time));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The instant that the clock shows. */
    public Instant time() {
        try {
            return Instant.ofEpochMilli(Native.clockGet(handle));
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
