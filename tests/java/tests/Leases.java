package tests;

import io.github.flakeid.CachedGenerator;
import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.Layout;
import io.github.flakeid.LeaseBuilder;
import io.github.flakeid.LeaseStatus;
import io.github.flakeid.LocalGenerator;
import io.github.flakeid.NamespaceBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Leases a node from an SQLite store twice, the second time after its release. */
final class Leases {
    private Leases() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Takes IDs from a local handle and a ring in turn, and returns the largest. */
    private static long handles(Generator generator, long last) {
        LocalGenerator local = generator.local();
        long ours = last;
        long rings = last;
        CachedGenerator ring = generator.cachedBuilder().maxAge(Duration.ofSeconds(5)).open();
        try (ring) {
            for (int index = 0; index < 1000; index++) {
                long mine = local.nextId();
                long fromRing = ring.nextId();
                check(ours < mine && rings < fromRing, "the order");
                check(mine != fromRing, "an ID was issued twice");
                ours = mine;
                rings = fromRing;
            }
            check(ring.stats().taken() == 1000, "as many as were taken: " + ring.stats());
        }
        Refusals.refused("FLAKEID_CLOSED", ring::nextId);
        return Math.max(ours, rings);
    }

    /** Creates a namespace twice, and then with other options, which is refused. */
    private static void namespaces(String url) {
        for (int turn = 0; turn < 2; turn++) {
            NamespaceBuilder builder = Generator.namespace(url, "created").layout(Layout.of("sonyflake"));
            check(builder.maxWindow(Duration.ofMinutes(1)).create().isZero(), "the wait");
        }
        Generator.lease(url).namespace("created").layout("sonyflake").window(Duration.ofMinutes(1)).open().close();
        NamespaceBuilder other = Generator.namespace(url, "created").layout("sonyflake");
        FlakeidException refused = Refusals.refused(
                "FLAKEID_INVALID_OPTION", () -> other.maxWindow(Duration.ofSeconds(1)).create());
        check(refused.getMessage().startsWith("maxWindow: is 1000 ms, but namespace"), refused.getMessage());
        Refusals.refused("FLAKEID_STORE_REJECTED", () -> Generator.namespace(url, "created").create());
        Refusals.refused("FLAKEID_INVALID_OPTION", () -> Generator.namespace(url, "no such").create());
        Refusals.refused(
                "FLAKEID_FIELD_OUT_OF_RANGE",
                () -> Generator.namespace(url, "other").quiet(Duration.ofSeconds(1)).create());
        Refusals.refused(
                "FLAKEID_INVALID_OPTION", () -> Generator.namespace("jdbc:postgresql://db/app", "orders").create());
    }

    /** Opens a lease while the store grants nothing. */
    private static void late(Path folder) throws IOException {
        String url = "sqlite://" + folder.resolve("late.db");
        Generator.namespace(url, "late")
                .maxWindow(Duration.ofSeconds(1))
                .maxSkew(Duration.ofMillis(100))
                .quiet(Duration.ofSeconds(3))
                .create();
        // Without this file, the store cannot exclude that it was restored.
        Files.delete(folder.resolve("late.db-serial"));
        Supplier<LeaseBuilder> lease = () -> Generator.lease(url)
                .namespace("late")
                .window(Duration.ofSeconds(1))
                .maxWait(Duration.ofMillis(1));
        Refusals.refused("FLAKEID_FENCE_IN_FUTURE", () -> lease.get().openWait(Duration.ZERO).open());
        Thread caller = Thread.currentThread();
        Refusals.refused("FLAKEID_FENCE_IN_FUTURE", () -> lease.get().onEvent(event -> caller.interrupt()).open());
        check(Thread.interrupted(), "the thread remains interrupted");
        try (Generator generator = lease.get().open()) {
            check(generator.nextId() > 0, "an ID after the wait");
        }
    }

    static void run() throws Exception {
        Path folder = Files.createTempDirectory("flakeid-java");
        late(folder);
        String url = "sqlite://" + folder.resolve("flakeid.db");
        long last = 0;
        for (int turn = 0; turn < 2; turn++) {
            try (Generator generator = Generator.lease(url).namespace("orders").clock("coarse").open()) {
                for (int index = 0; index < 1000; index++) {
                    long id = generator.nextId();
                    check(id > last, "the order");
                    last = id;
                }
                LeaseStatus status = generator.leaseStatus();
                check(status.grants() == 1 && status.lastError().equals("FLAKEID_OK"), status.toString());
                check(status.expiresIn().compareTo(Duration.ZERO) > 0 && !status.fencedOff(), status.toString());
                check(generator.toString().contains("t41.d5.w5.s12"), generator.toString());
                last = Math.max(last, handles(generator, last));
            }
        }
        Refusals.refused("FLAKEID_INVALID_OPTION", () -> Generator.lease(url).namespace("no such").open());
        namespaces(url);
        Events.run(url);
        List<Path> files;
        try (Stream<Path> listed = Files.list(folder)) {
            files = listed.toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
        Files.delete(folder);
    }
}
