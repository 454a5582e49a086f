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

    static void run() throws Exception {
        Path folder = Files.createTempDirectory("flakeid-java");
        String url = "sqlite://" + folder.resolve("flakeid.db");
        Library.LeaseConfig config = new Library.LeaseConfig();
        config.namespace_name = "orders";
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
