package flakeid;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;

/** What the types let through: every call is refused with its code, and what there was stays. */
final class Refusals {
    private static final long NOW = 1505914988849L;

    private Refusals() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what + ": " + Library.flakeid_last_error());
        }
    }

    private static void refused(String code, int status) {
        check(code.equals(Library.flakeid_status_code(status)), code);
        int length = Library.flakeid_last_error().length();
        check(length >= 10 && length < 1000, "a message of " + length + " characters");
    }

    private static void refused(String code, Library.Config config) {
        PointerByReference made = new PointerByReference();
        refused(code, Library.flakeid_generator_new(config, made));
        check(made.getValue() == null, "a generator although it failed");
    }

    private static Library.Config with(int has, long node, long datacenter, long worker) {
        Library.Config config = new Library.Config();
        config.has = has;
        config.node = node;
        config.datacenter = datacenter;
        config.worker = worker;
        return config;
    }

    private static Pointer open(Pointer clock, long node) {
        Library.Config config = with(Library.HAS_NODE, node, 0, 0);
        config.clock = clock;
        PointerByReference made = new PointerByReference();
        check(Library.flakeid_generator_new(config, made) == 0, "a generator");
        return made.getValue();
    }

    private static long next(Pointer generator) {
        long[] id = new long[1];
        check(Library.flakeid_generator_next(generator, id) == 0, "an ID");
        return id[0];
    }

    static void run() {
        PointerByReference made = new PointerByReference();
        check(Library.flakeid_manual_clock_new(NOW, made) == 0, "a clock");
        Pointer clock = made.getValue();
        Pointer kept = open(clock, 7);
        long first = next(kept);
        nodes();
        options();
        layouts();
        texts();
        calls(kept, clock);
        check(next(kept) == first + 1, "a refused call changed something");
        Library.flakeid_generator_free(kept);
        Library.flakeid_manual_clock_free(clock);
    }

    private static void nodes() {
        int both = Library.HAS_DATACENTER | Library.HAS_WORKER;
        refused("FLAKEID_NULL_ARGUMENT", (Library.Config) null);
        refused("FLAKEID_INVALID_OPTION", new Library.Config());
        refused("FLAKEID_INVALID_OPTION", with(Library.HAS_DATACENTER, 0, 1, 0));
        refused("FLAKEID_INVALID_OPTION", with(Library.HAS_WORKER, 0, 0, 1));
        refused("FLAKEID_INVALID_OPTION", with(Library.HAS_NODE | Library.HAS_WORKER, 1, 0, 0));
        refused("FLAKEID_INVALID_OPTION", with(Library.HAS_NODE | both, 1, 1, 1));
        refused("FLAKEID_FIELD_OUT_OF_RANGE", with(Library.HAS_NODE, 1024, 0, 0));
        refused("FLAKEID_FIELD_OUT_OF_RANGE", with(Library.HAS_NODE, -1, 0, 0));
        check(Library.flakeid_last_error().contains("18446744073709551615"), "unsigned");
        refused("FLAKEID_FIELD_OUT_OF_RANGE", with(both, 0, 32, 0));
        check("datacenter".equals(Library.flakeid_last_error_field()), "the field");
        refused("FLAKEID_FIELD_OUT_OF_RANGE", with(both, 0, 0, 32));
        Library.Config config = with(both, 0, 1, 1);
        config.layout = "plain";
        refused("FLAKEID_INVALID_OPTION", config);
    }

    private static void options() {
        Library.Config config = with(Library.HAS_NODE, 1, 0, 0);
        config.overflow = 3;
        refused("FLAKEID_INVALID_OPTION", config);
        config.overflow = 0;
        config.rollback = -1;
        refused("FLAKEID_INVALID_OPTION", config);
        config.rollback = 0;
        config.max_wait_ms = 1; // without its flag
        refused("FLAKEID_INVALID_OPTION", config);
        config.max_wait_ms = 0;
        config.struct_size = 3;
        refused("FLAKEID_INVALID_OPTION", config);
    }

    private static void layouts() {
        long[] id = {42};
        Library.Parts parts = new Library.Parts();
        Library.Config config = with(Library.HAS_NODE, 1, 0, 0);
        for (String layout : new String[] {"", "TWITTER", "twitter ", "\ud800", "x".repeat(100_000)}) {
            config.layout = layout;
            refused("FLAKEID_INVALID_LAYOUT", config);
            refused("FLAKEID_INVALID_LAYOUT", Library.flakeid_decode(layout, 1, parts));
            refused("FLAKEID_INVALID_LAYOUT", Library.flakeid_lower_bound(layout, 0, id));
            refused("FLAKEID_INVALID_LAYOUT", Library.flakeid_upper_bound(layout, 0, id));
        }
        config.layout = "baidu";
        refused("FLAKEID_HORIZON_REACHED", config);
        refused("FLAKEID_INVALID_ID", Library.flakeid_decode("twitter", -1, parts));
        refused("FLAKEID_INVALID_OPTION", Library.flakeid_join_node("plain", 0, 1, id));
        refused("FLAKEID_FIELD_OUT_OF_RANGE", Library.flakeid_join_node("twitter", 32, 0, id));
        check(id[0] == 42, "an output of a call that failed");
    }

    private static void texts() {
        long[] id = {42};
        String[] none = {
            "", "0", "0000000000", "000000000000", "zzzzzzzzzzz", "0000000000-", "0000000000\u00e9",
            "\ud800", "0".repeat(100_000)
        };
        for (String text : none) {
            refused("FLAKEID_INVALID_ID", Library.flakeid_from_base62(text, id));
        }
        refused("FLAKEID_INVALID_ID", Library.flakeid_from_decimal("18446744073709551616", id));
        for (int length : new int[] {0, 7, 9}) {
            refused("FLAKEID_INVALID_ID", Library.flakeid_from_bytes(new byte[16], length, id));
        }
        byte[] buffer = {1, 1, 1, 1, 1, 1, 1, 1};
        refused("FLAKEID_BUFFER_TOO_SMALL", Library.flakeid_to_bytes(0, buffer, 7));
        refused("FLAKEID_BUFFER_TOO_SMALL", Library.flakeid_to_base62(0, buffer, 8));
        refused("FLAKEID_NULL_ARGUMENT", Library.flakeid_to_base62(0, null, 64));
        refused("FLAKEID_NULL_ARGUMENT", Library.flakeid_from_base62(null, id));
        check(id[0] == 42 && buffer[0] == 1, "an output of a call that failed");
    }

    private static void calls(Pointer kept, Pointer clock) {
        long[] ids = {42, 42};
        long[] count = {42};
        refused("FLAKEID_NULL_ARGUMENT", Library.flakeid_generator_next(null, ids));
        refused("FLAKEID_NULL_ARGUMENT", Library.flakeid_generator_next(kept, null));
        refused("FLAKEID_NULL_ARGUMENT", Library.flakeid_generator_fill(kept, null, 2, count));
        refused("FLAKEID_FIELD_OUT_OF_RANGE", Library.flakeid_generator_fill(kept, ids, -1, count));
        refused("FLAKEID_INVALID_OPTION", Library.flakeid_generator_extend(kept, 1));
        Pointer ended = open(clock, 8);
        check(Library.flakeid_generator_retire(ended, count) == 0, "the end");
        refused("FLAKEID_CLOSED", Library.flakeid_generator_fill(ended, ids, 2, count));
        refused("FLAKEID_CLOSED", Library.flakeid_generator_retire(ended, new long[1]));
        check(ids[0] == 42 && ids[1] == 42 && count[0] == 0, "outputs of calls that failed");
        Library.flakeid_generator_free(ended);
    }
}
