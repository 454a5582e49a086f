import io.github.flakeid.CachedGenerator;
import io.github.flakeid.Generator;
import io.github.flakeid.LocalGenerator;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * What an ID costs in Java, beside the clock that a generator in Java reads: CPU cost per ID, no ceiling in the way, one
 * thread. The rows take turns, and each figure is the median of its rounds.
 *
 * <p>{@code cargo xtask java && java -cp target/dist/java/flakeid.jar benches/java/Costs.java}
 */
public final class Costs {
    private static final int ROUNDS = 21;
    private static final int CALLS = 1_000_000;

    private record Row(String name, int ids, LongSupplier call, double[] samples) {
        static Row of(String name, int ids, LongSupplier call) {
            return new Row(name, ids, call, new double[ROUNDS]);
        }

        double median() {
            double[] sorted = samples.clone();
            Arrays.sort(sorted);
            return sorted[ROUNDS / 2];
        }
    }

    private static long kept;

    private static double nanoseconds(LongSupplier call, int calls) {
        long sum = 0;
        long start = System.nanoTime();
        for (int done = 0; done < calls; done++) {
            sum ^= call.getAsLong();
        }
        long took = System.nanoTime() - start;
        kept ^= sum;
        return (double) took / calls;
    }

    public static void main(String[] arguments) {
        // 22 bits of sequence: four million IDs a millisecond.
        Generator gated = Generator.builder().layout("t41.s22@1577836800000/1ms").node(0).build();
        Generator system = Generator.builder().layout("t41.s22@1577836800001/1ms").node(0).clock("system").build();
        LocalGenerator local = gated.local();
        long[] ids = new long[4096];
        try (CachedGenerator ring = gated.cached()) {
            Row[] rows = {
                Row.of("System.currentTimeMillis()", 1, System::currentTimeMillis),
                Row.of("nextId()", 1, gated::nextId),
                Row.of("nextId(), clock system", 1, system::nextId),
                Row.of("local().nextId()", 1, local::nextId),
                Row.of("cached().nextId()", 1, ring::nextId),
                Row.of("fill of 4096", 4096, () -> gated.fill(ids)),
                Row.of("UUID.randomUUID()", 1, () -> UUID.randomUUID().getLeastSignificantBits()),
            };
            for (int round = -3; round < ROUNDS; round++) {
                for (Row row : rows) {
                    double took = nanoseconds(row.call, CALLS / row.ids) / row.ids;
                    // The first rounds are for the compiler.
                    if (round >= 0) {
                        row.samples[round] = took;
                    }
                }
            }
            for (Row row : rows) {
                System.out.printf("%-28s %8.2f ns an ID  %6.2f x%n", row.name, row.median(), row.median() / rows[0].median());
            }
        }
        if (kept == 42) {
            System.out.println();
        }
    }
}
