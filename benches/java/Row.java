import java.util.Arrays;
import java.util.List;

/** One way to generate IDs, and the cost of an ID in every round, in nanoseconds. */
final class Row {
    /** Calls the source the given number of times. The sum keeps the compiler from omitting calls. */
    interface Loop {
        long run(int calls);
    }

    enum Role {
        FLOOR,
        OURS,
        RIVAL,
        OTHER
    }

    final String table;
    final String label;
    final Role role;
    private final int ids;
    private final Loop loop;
    private int calls = 1;
    private double[] samples;

    Row(String table, String label, Role role, int ids, Loop loop) {
        this.table = table;
        this.label = label;
        this.role = role;
        this.ids = ids;
        this.loop = loop;
    }

    private static volatile long kept;

    /** Measures the cost of an ID. */
    private double time() {
        long start = System.nanoTime();
        kept ^= loop.run(calls);
        return (double) (System.nanoTime() - start) / ((double) calls * ids);
    }

    /** Measures each row once per round. Each round begins with another row. */
    static void sample(List<Row> rows, int rounds, long roundNanos) {
        for (Row row : rows) {
            // Runs until the compiler has replaced the loop by optimised code.
            long until = System.nanoTime() + 15 * roundNanos;
            row.calls = 1000;
            while (System.nanoTime() < until) {
                row.time();
            }
            // The fastest of three, because an interruption would end the calibration too early.
            row.calls = 1;
            while (Math.min(row.time(), Math.min(row.time(), row.time())) * row.calls * row.ids < roundNanos) {
                row.calls *= 2;
            }
            row.samples = new double[rounds];
        }
        for (int round = 0; round < rounds; round++) {
            for (int offset = 0; offset < rows.size(); offset++) {
                Row row = rows.get((round + offset) % rows.size());
                row.samples[round] = row.time();
            }
        }
    }

    double median() {
        return median(samples);
    }

    double least() {
        return Arrays.stream(samples).min().orElse(Double.NaN);
    }

    double most() {
        return Arrays.stream(samples).max().orElse(Double.NaN);
    }

    /** Returns the median of the ratios of all rounds. */
    double ratio(Row to) {
        double[] ratios = new double[samples.length];
        Arrays.setAll(ratios, round -> samples[round] / to.samples[round]);
        return median(ratios);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
