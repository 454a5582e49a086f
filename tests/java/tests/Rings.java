package tests;

import io.github.flakeid.CachedGenerator;
import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Tests rings: their counters and their end. */
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
        closed();
        closing();
    }

    /** Returns the number of threads of this process that refill rings. */
    private static long refillers() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            return threads.filter(Rings::refills).count();
        }
    }

    private static boolean refills(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).equals("flakeid-ring\n");
        } catch (IOException ended) {
            return false;
        }
    }

    /** Checks that close ends the thread at once, not when the garbage collector finds the ring. */
    private static void closed() throws IOException, InterruptedException {
        Generator generator = Generator.of(21);
        long others = refillers();
        CachedGenerator ring = generator.cached();
        long last = ring.nextId();
        // A thread sets its name itself, after its start.
        while (refillers() == others) {
            Thread.sleep(1);
        }
        ring.close();
        ring.close();
        check(refillers() == others, "the thread of the ring continues");
        Refusals.refused("FLAKEID_CLOSED", ring::nextId);
        check(ring.stats().taken() == 1 && ring.stats().size() == 0, "the rest of the ring: " + ring.stats());
        check(ring.stats().rejectedTake() == 0, "closing does not count as a refusal: " + ring.stats());
        check(generator.nextId() > last, "the generator continues");
    }

    /** Checks that threads that take from a ring while it is closed get an error and nothing crashes. */
    private static void closing() throws Exception {
        Generator generator = Generator.of(22);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int round = 0; round < 20; round++) {
            CachedGenerator ring = generator.cached();
            List<Future<FlakeidException>> ends = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                ends.add(pool.submit(() -> Refusals.refused("FLAKEID_CLOSED", () -> takeForEver(ring))));
            }
            ring.nextId();
            ring.close();
            for (Future<FlakeidException> end : ends) {
                end.get();
            }
        }
        pool.shutdown();
    }

    private static void takeForEver(CachedGenerator ring) {
        while (true) {
            ring.nextId();
        }
    }

    /**
     * Checks that a call without an ID counts as one refusal, with both interfaces through which Java calls the
     * library.
     */
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
