package flakeid;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A node that is leased from an SQLite store: twice, the second time after it was given back. */
final class Leases {
    private Leases() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what + ": " + Library.flakeid_last_error());
        }
    }

    /** IDs of a local handle and of a ring, in turns, and the largest of them. */
    private static long handles(Pointer generator, long last) {
        PointerByReference made = new PointerByReference();
        check(Library.flakeid_local_open(generator, made) == 0, "a local handle");
        Pointer local = made.getValue();
        check(Library.flakeid_cached_open(generator, null, made) == 0, "a ring");
        Pointer ring = made.getValue();
        long[] ours = {last};
        long[] rings = {last};
        for (int index = 0; index < 1000; index++) {
            long[] before = {ours[0], rings[0]};
            check(Library.flakeid_local_next(local, ours) == 0, "an ID");
            check(Library.flakeid_cached_next(ring, rings) == 0, "an ID");
            check(before[0] < ours[0] && before[1] < rings[0], "the order");
            check(ours[0] != rings[0], "an ID twice");
        }
        Library.flakeid_cached_free(ring);
        Library.flakeid_local_free(local);
        return Math.max(ours[0], rings[0]);
    }

    static void run() throws Exception {
        Path folder = Files.createTempDirectory("flakeid-java");
        String url = "sqlite://" + folder.resolve("flakeid.db");
        Library.LeaseConfig config = new Library.LeaseConfig();
        config.namespace_name = "orders";
        config.clock_name = "coarse";
        long last = 0;
        for (int turn = 0; turn < 2; turn++) {
            PointerByReference made = new PointerByReference();
            check(Library.flakeid_generator_open(url, config, made) == 0, "a lease");
            Pointer generator = made.getValue();
            long[] id = new long[1];
            for (int index = 0; index < 1000; index++) {
                check(Library.flakeid_generator_next(generator, id) == 0, "an ID");
                check(id[0] > last, "the order");
                last = id[0];
            }
            last = Math.max(last, handles(generator, last));
            Library.flakeid_generator_free(generator);
        }
        config.namespace_name = "no such";
        int status = Library.flakeid_generator_open(url, config, new PointerByReference());
        check("FLAKEID_INVALID_OPTION".equals(Library.flakeid_status_code(status)), "a refusal");
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
