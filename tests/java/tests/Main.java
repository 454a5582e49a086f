package tests;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.Platforms;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/** Tests the Java library: the shared vectors, bad input, JSON, and many IDs from several threads. */
public final class Main {
    private static final int THREADS = 4;
    private static final int RUN = 1000;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Path vectors = Path.of(arguments[0]);
        Vectors.run(vectors);
        Schedules.run(vectors);
        Refusals.run();
        Rings.run();
        Interrupts.run();
        Leases.run();
        Json.run();
        Frameworks.run();
        Metadata.run();
        Platforms.run();
        Loaders.run();
        nodes();
        streams();
        closing();
        forgetting();
        threads(Integer.parseInt(arguments[1]));
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Checks generators of one node, of a few, and of all nodes of the layout. */
    private static void nodes() {
        for (int count : new int[] {1, 2, 64, 128, 1024}) {
            long[] nodes = LongStream.range(0, count).map(index -> 1023 - index).toArray();
            // Each node is in only one set, so the sets share no IDs.
            Generator generator = Generator.builder().epoch(Instant.ofEpochMilli(count)).nodes(nodes).build();
            Arrays.sort(nodes);
            check(Arrays.equals(generator.nodes(), nodes) && generator.node() == nodes[0], count + " nodes");
            generator.close();
        }
    }

    /** Checks that a stream generates its IDs on demand, each once, and ends with the generator. */
    private static void streams() {
        Generator generator = Generator.of(901);
        long before = generator.nextId();
        LongStream unused = generator.ids();
        long[] ids = generator.ids().limit(RUN).toArray();
        check(ids.length == RUN && ids[0] > before, "after the IDs that were generated before");
        for (int index = 1; index < ids.length; index++) {
            check(ids[index - 1] < ids[index], "the order");
        }
        check(generator.ids().parallel().limit(RUN).distinct().count() == RUN, "an ID was issued twice");
        check(unused.findFirst().orElseThrow() > ids[RUN - 1], "an ID that was generated before it was requested");
        generator.close();
        Refusals.refused("FLAKEID_CLOSED", () -> generator.ids().findFirst());
    }

    /** Checks that threads that generate IDs while the generator is closed get an error and nothing crashes. */
    private static void closing() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        for (int round = 0; round < 50; round++) {
            Generator generator = Generator.of(round);
            List<Future<String>> ends = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                ends.add(pool.submit(() -> untilRefused(generator)));
            }
            generator.nextIds(RUN);
            generator.close();
            for (Future<String> end : ends) {
                check(end.get().equals("FLAKEID_CLOSED"), end.get());
            }
        }
        pool.shutdown();
    }

    private static String untilRefused(Generator generator) {
        try {
            while (true) {
                generator.nextId();
            }
        } catch (FlakeidException refused) {
            return refused.code();
        }
    }

    /** Checks that unreachable objects are freed, even if a running call holds the last reference. */
    private static void forgetting() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            check(Generator.of(900).local().nextId() > 0, "an ID of an object that is unreachable at once");
            if (round % 20 == 0) {
                System.gc();
                Thread.sleep(1);
            }
        }
    }

    private static void threads(int n) throws Exception {
        Generator generator = Generator.builder().datacenter(3).worker(4).maxWait(Duration.ofSeconds(60)).build();
        check(generator.node() == 100 && generator.nodes().length == 1, "the node");
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Callable<long[]>> shares = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            shares.add(() -> share(generator, n / THREADS));
        }
        long[] all = new long[n / THREADS * THREADS];
        int length = 0;
        for (Future<long[]> share : pool.invokeAll(shares)) {
            System.arraycopy(share.get(), 0, all, length, n / THREADS);
            length += n / THREADS;
        }
        pool.shutdown();
        generator.close();
        Arrays.sort(all);
        for (int index = 1; index < all.length; index++) {
            check(all[index - 1] != all[index], "an ID was issued twice");
        }
        System.out.println("java: " + all.length + " IDs, none twice");
    }

    private static long[] share(Generator generator, int n) {
        long[] ids = new long[n];
        int done = 0;
        while (done < n) {
            long[] run = generator.nextIds(Math.min(RUN, n - done));
            System.arraycopy(run, 0, ids, done, run.length);
            done += run.length;
            for (int single = 0; single < RUN && done < n; single++) {
                ids[done++] = generator.nextId();
            }
        }
        for (int index = 1; index < n; index++) {
            check(ids[index - 1] < ids[index], "the order within a thread");
        }
        return ids;
    }
}
