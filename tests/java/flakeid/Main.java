package flakeid;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The C library from Java: the shared vectors, bad input, and many IDs from several threads. */
public final class Main {
    private static final int THREADS = 4;
    private static final int RUN = 1000;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Path vectors = Path.of(arguments[0]);
        Vectors.run(vectors);
        Schedules.run(vectors);
        Refusals.run();
        Leases.run();
        threads(Integer.parseInt(arguments[1]));
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what + ": " + Library.flakeid_last_error());
        }
    }

    private static void threads(int n) throws Exception {
        Library.Config config = new Library.Config();
        config.has = Library.HAS_DATACENTER | Library.HAS_WORKER | Library.HAS_MAX_WAIT;
        config.datacenter = 3;
        config.worker = 4;
        config.max_wait_ms = 60_000;
        PointerByReference made = new PointerByReference();
        check(Library.flakeid_generator_new(config, made) == 0, "a generator");
        Pointer generator = made.getValue();
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
        Library.flakeid_generator_free(generator);
        Arrays.sort(all);
        for (int index = 1; index < all.length; index++) {
            check(all[index - 1] != all[index], "an ID twice");
        }
        System.out.println("java: " + all.length + " IDs, none twice");
    }

    private static long[] share(Pointer generator, int n) {
        long[] ids = new long[n];
        long[] run = new long[RUN];
        long[] count = new long[1];
        int done = 0;
        while (done < n) {
            int wanted = Math.min(RUN, n - done);
            check(Library.flakeid_generator_fill(generator, run, wanted, count) == 0, "fill");
            System.arraycopy(run, 0, ids, done, (int) count[0]);
            done += (int) count[0];
            for (int single = 0; single < RUN && done < n; single++) {
                check(Library.flakeid_generator_next(generator, count) == 0, "next");
                ids[done++] = count[0];
            }
        }
        for (int index = 1; index < n; index++) {
            check(ids[index - 1] < ids[index], "the order within a thread");
        }
        return ids;
    }
}
