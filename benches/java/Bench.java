import com.xfvape.uid.impl.CachedUidGenerator;
import io.github.flakeid.CachedGenerator;
import io.github.flakeid.Generator;
import io.github.flakeid.LocalGenerator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/** Compares the Java library with its rivals and the floor in one run. Prints Markdown; {@code --json FILE} writes the figures. */
public final class Bench {
    private static final String ONE = "One ID";
    private static final String MANY = "Many by one call";
    /** 22 sequence bits: four million IDs per millisecond. */
    private static final String ROOMY = "t37.n3.s23@" + (System.currentTimeMillis() - 1000) + "/1ms";

    /** 4.2 million IDs per second for Baidu's default generator, about as many as the others with 12 bits per millisecond. */
    private static final int BAIDUS_BITS = 22;
    private static final double BAIDUS_MOST = 1 << BAIDUS_BITS;

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        List<String> given = List.of(arguments);
        boolean quick = given.contains("--quick");
        int json = given.indexOf("--json");
        Path store = Files.createTempDirectory("flakeid-bench");
        List<Row> rows = rows("sqlite://" + store + "/flakeid.db");
        Row.sample(rows, quick ? 5 : 101, quick ? 2_000_000 : 20_000_000);
        double seconds = quick ? 0.2 : 1;
        Report report = new Report(rows, ceilings(seconds), rings(seconds));
        report.print();
        if (json >= 0) {
            Files.writeString(Path.of(given.get(json + 1)), report.json());
        }
        // Baidu's ring has threads that keep the process running.
        System.exit(0);
    }

    private static Generator largeTicks(long node, String clock) {
        return Generator.builder().layout(ROOMY).node(node).clock(clock).build();
    }

    private static List<Row> rows(String store) throws Exception {
        Generator generator = Generator.builder().layout(ROOMY).node(1).build();
        Generator filled = Generator.builder().layout(ROOMY).node(4).build();
        LocalGenerator local = Generator.builder().layout(ROOMY).node(3).build().local();
        CachedGenerator ring = Generator.builder().layout(ROOMY).node(5).build().cached();
        long[] few = new long[256];
        long[] many = new long[4096];
        List<Row> rows = new ArrayList<>();
        rows.add(single("F: clock to ms, then one CAS", Row.Role.FLOOR, floor()));
        rows.add(single("**flakeid** `nextId()`", Row.Role.OURS, generator::nextId));
        rows.add(single("**flakeid** `nextId()`, clock `system`", Row.Role.OURS, largeTicks(2, "system")::nextId));
        rows.add(single("**flakeid** `nextId()`, clock `coarse`", Row.Role.OURS, largeTicks(6, "coarse")::nextId));
        rows.add(single("**flakeid** `nextId()`, leased on SQLite", Row.Role.OURS, Generator.lease(store).layout(ROOMY).open()::nextId));
        rows.add(single("**flakeid** `local().nextId()`", Row.Role.OURS, local::nextId));
        rows.add(single("**flakeid** `cached().nextId()`", Row.Role.OURS, ring::nextId));
        rows.add(single(Report.COSID, Row.Role.RIVAL, Rivals.cosid(21)));
        rows.add(single(Report.HUTOOL, Row.Role.RIVAL, Rivals.inTurn(node -> Rivals.hutool(node, false))));
        rows.add(single(Report.MYBATIS, Row.Role.RIVAL, Rivals.inTurn(Rivals::mybatisPlus)));
        rows.add(single(Report.YITTER, Row.Role.RIVAL, Rivals.yitter(21)));
        rows.add(single(Report.TSID, Row.Role.RIVAL, Rivals.tsid(21)));
        rows.add(single(Report.BAIDU, Row.Role.RIVAL, Rivals.baidu(28)));
        rows.add(single("hutool, with its ticker (1,024 in turn; reads no clock)", Row.Role.RIVAL, Rivals.inTurn(node -> Rivals.hutool(node, true))));
        rows.add(single("`System.currentTimeMillis()`", Row.Role.OTHER, System::currentTimeMillis));
        rows.add(single("`UUID.randomUUID()`", Row.Role.OTHER, () -> UUID.randomUUID().getLeastSignificantBits()));
        rows.add(call("an empty call by JNI", Calls::jni));
        rows.add(call(Report.JNI_BOUND, Calls::counted));
        rows.add(call("an empty call by JNA, direct mapping", Calls.Direct::nothing));
        rows.add(call("an empty call by JNA, interface mapping", Calls.mapped()));
        if (Runtime.version().feature() >= 22) {
            rows.add(call("an empty call by the foreign-function interface", Calls.foreign("nothing")));
            rows.add(call("the same, critical", Calls.foreign("critical")));
            rows.add(call(Report.FOREIGN_BOUND, Calls.foreign("counted")));
        }
        rows.add(new Row(MANY, "**flakeid** `fill` of 256", Row.Role.OTHER, 256, calls -> fill(filled, few, calls)));
        rows.add(new Row(MANY, "**flakeid** `fill` of 4,096", Row.Role.OTHER, 4096, calls -> fill(filled, many, calls)));
        return rows;
    }

    /** Makes one call after another through an interface, so that the compiler optimises no row better than another. */
    private static Row single(String label, Row.Role role, LongSupplier next) {
        return new Row(ONE, label, role, 1, calls -> {
            long sum = 0;
            for (; calls > 0; calls--) {
                sum ^= next.getAsLong();
            }
            return sum;
        });
    }

    private static Row call(String label, LongUnaryOperator empty) {
        long[] value = {0};
        return single(label, Row.Role.OTHER, () -> value[0] = empty.applyAsLong(value[0]));
    }

    private static long fill(Generator generator, long[] ids, int calls) {
        for (; calls > 0; calls--) {
            generator.fill(ids);
        }
        return ids[0];
    }

    /** Does the minimum for an ID that no other thread can get. */
    private static LongSupplier floor() {
        AtomicLong last = new AtomicLong();
        return () -> {
            long now = System.currentTimeMillis();
            for (; ; ) {
                long before = last.get();
                long next = now << 22 | (before + 1) & ((1 << 22) - 1);
                if (last.compareAndSet(before, next)) {
                    return next;
                }
            }
        };
    }

    private static List<Asked> ceilings(double seconds) throws Exception {
        List<Asked> all = new ArrayList<>();
        double most = 4_096_000;
        for (int threads : new int[] {1, 8}) {
            LongSupplier next = Generator.of(threads)::nextId;
            all.add(Asked.measure("**flakeid** `nextId()`", true, threads, most, next, seconds));
        }
        for (int threads : new int[] {1, 8}) {
            all.add(Asked.measure(Report.COSID, false, threads, most, Rivals.cosid(12), seconds));
            all.add(Asked.measure(Report.HUTOOL, false, threads, most, Rivals.hutool(1, false), seconds));
            all.add(Asked.measure(Report.MYBATIS, false, threads, most, Rivals.mybatisPlus(1), seconds));
            all.add(Asked.measure(Report.YITTER, false, threads, 0, Rivals.yitter(12), seconds));
            all.add(Asked.measure(Report.TSID, false, threads, 0, Rivals.tsid(12), seconds));
            all.add(Asked.measure(Report.BAIDU, false, threads, BAIDUS_MOST, Rivals.baidu(BAIDUS_BITS), seconds));
        }
        return all;
    }

    private static List<Asked> rings(double seconds) throws Exception {
        List<Asked> all = new ArrayList<>();
        for (int takers : new int[] {1, 2}) {
            try (CachedGenerator ring = Generator.builder().layout(ROOMY).node(takers).build().cached()) {
                all.add(Asked.measure("**flakeid** `cached().nextId()`", true, takers, 0, ring::nextId, seconds));
            }
            CachedUidGenerator baidu = Rivals.baiduRing();
            all.add(Asked.measure("Baidu `CachedUidGenerator`", false, takers, 0, baidu::getUID, seconds));
            baidu.destroy();
        }
        return all;
    }
}
