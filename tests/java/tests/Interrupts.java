package tests;

import io.github.flakeid.CachedGenerator;
import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.LocalGenerator;
import io.github.flakeid.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Tests that an interrupt of the thread ends every call that waits. */
final class Interrupts {
    private static final Duration LONG = Duration.ofHours(2);

    private Interrupts() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static void run() {
        // The first tick begins at the next full hour, and has one ID.
        Generator hourly =
                Generator.builder().layout("t30.n8.s8@0/3600000ms").node(1).sequenceMask(0).maxWait(LONG).build();
        LocalGenerator local = hourly.local();
        ends("FLAKEID_SEQUENCE_EXHAUSTED", hourly::nextId);
        ends("FLAKEID_SEQUENCE_EXHAUSTED", () -> hourly.fill(new long[2]));
        ends("FLAKEID_SEQUENCE_EXHAUSTED", () -> hourly.nextIds(2));
        ends("FLAKEID_SEQUENCE_EXHAUSTED", local::nextId);
        hourly.close();
        rings();
        pieces();
    }

    /** Checks that an interrupt ends a wait for the refill of a ring whose clock stands still. */
    private static void rings() {
        ManualClock clock = new ManualClock(Instant.ofEpochMilli(1505914988849L));
        Generator generator = Generator.builder().node(23).clock(clock).maxWait(LONG).build();
        try (CachedGenerator ring = generator.cachedBuilder().boostPower(0).maxAge(LONG).open()) {
            ends("FLAKEID_RING_EMPTY", () -> {
                while (true) {
                    ring.nextId();
                }
            });
            check(ring.stats().rejectedTake() == 1, "the interrupted call is counted once");
        }
    }

    /** Checks that an interrupted call returns the IDs that it has already generated. */
    private static void pieces() {
        Generator generator = Generator.builder().layout("t40.n8.s8@0/50ms").node(2).sequenceMask(0).build();
        generator.nextId();
        long[] ids = new long[1000];
        ScheduledExecutorService timer = interrupting(200);
        int filled = generator.fill(ids);
        check(Thread.interrupted() && filled > 0 && filled < ids.length && ids[filled - 1] > 0, filled + " IDs");
        timer.shutdown();
        generator.close();
    }

    /** Checks that a call fails with a code soon after an interrupt, and that the thread remains interrupted. */
    private static void ends(String code, Runnable call) {
        long begun = System.nanoTime();
        ScheduledExecutorService timer = interrupting(50);
        FlakeidException failure = Refusals.refused(code, call);
        check(Thread.interrupted(), "the thread remains interrupted");
        check(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(20), "a late end: " + failure.getMessage());
        timer.shutdown();
    }

    /** Interrupts this thread after some milliseconds. */
    private static ScheduledExecutorService interrupting(long ms) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        timer.schedule(Thread.currentThread()::interrupt, ms, TimeUnit.MILLISECONDS);
        return timer;
    }
}
