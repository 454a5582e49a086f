import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Results of one generator from which threads request IDs as fast as they can.
 *
 * @param most the layout's maximum rate in IDs per second; 0 for generators that borrow from later ticks
 * @param cpu CPU seconds per second
 * @param empty calls that threw an exception and were repeated
 * @param twice repeated IDs
 */
record Asked(String label, boolean ours, int threads, double most, double idsPerSecond, double cpu, long empty, long twice) {
    private static final int ROOM = 100_000_000;

    static Asked measure(String label, boolean ours, int threads, double most, LongSupplier next, double seconds)
            throws InterruptedException {
        long[] ids = new long[ROOM];
        // Touches all pages before the time is taken.
        Arrays.fill(ids, 1);
        int share = ROOM / threads;
        int[] counts = new int[threads];
        long[] empty = new long[threads];
        Thread[] workers = new Thread[threads];
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        // Starts at the beginning of a second, because one of the rivals has ticks of a second.
        Thread.sleep(1000 - System.currentTimeMillis() % 1000);
        long cpu = system.getProcessCpuTime();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        for (int worker = 0; worker < threads; worker++) {
            int me = worker;
            workers[worker] = new Thread(() -> {
                int at = me * share;
                int room = at + share;
                for (int turn = 0; at < room && ((turn & 15) != 0 || System.nanoTime() < end); turn++) {
                    try {
                        ids[at] = next.getAsLong();
                        at++;
                    } catch (RuntimeException why) {
                        empty[me]++;
                        Thread.yield();
                    }
                }
                counts[me] = at - me * share;
            });
            workers[worker].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        double took = (System.nanoTime() - start) / 1e9;
        double used = (system.getProcessCpuTime() - cpu) / 1e9 / took;
        int made = 0;
        for (int worker = 0; worker < threads; worker++) {
            System.arraycopy(ids, worker * share, ids, made, counts[worker]);
            made += counts[worker];
        }
        Arrays.parallelSort(ids, 0, made);
        long twice = 0;
        for (int at = 1; at < made; at++) {
            twice += ids[at] == ids[at - 1] ? 1 : 0;
        }
        return new Asked(label, ours, threads, most, made / took, used, Arrays.stream(empty).sum(), twice);
    }
}
