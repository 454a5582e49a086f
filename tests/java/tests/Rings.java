package tests;

import io.github.flakeid.CachedGenerator;
import io.github.flakeid.Generator;
import io.github.flakeid.ManualClock;
import java.time.Duration;
import java.time.Instant;

/** Rings of IDs made beforehand: what is counted. */
final class Rings {
    private static final int TICK = 4096;

    private Rings() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static void run() throws Exception {
        counted();
    }

    /** A call that gets no ID is one refusal, by whichever way Java calls the library. */
    private static void counted() {
        ManualClock clock = new ManualClock(Instant.ofEpochMilli(1505914988849L));
        Generator generator = Generator.builder().node(20).clock(clock).maxWait(Duration.ofMillis(1)).build();
        try (CachedGenerator ring = generator.cachedBuilder().boostPower(0).open()) {
            for (int taken = 0; taken < TICK; taken++) {
                ring.nextId();
            }
            for (int call = 1; call <= 3; call++) {
                Refusals.refused("FLAKEID_RING_EMPTY", ring::nextId);
                check(ring.stats().rejectedTake() == call, call + " refusals: " + ring.stats());
            }
            check(ring.stats().taken() == TICK, "as many as were taken: " + ring.stats());
        }
    }
}
