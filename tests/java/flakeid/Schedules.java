package flakeid;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Scripted clocks: readings in, IDs or errors out, for every policy. */
final class Schedules {
    private static final List<String> OVERFLOWS = List.of("wait", "error", "borrow");
    private static final List<String> ROLLBACKS =
            List.of("continue", "error", "wait", "clock-sequence");

    private Schedules() {}

    static void run(Path folder) throws IOException {
        for (Row row : Row.load(folder, "schedules").rows("schedules")) {
            PointerByReference clock = new PointerByReference();
            row.ok(Library.flakeid_manual_clock_new(row.instant("clock"), clock));
            play(row, clock.getValue());
            Library.flakeid_manual_clock_free(clock.getValue());
        }
    }

    private static Library.Config config(Row row, Pointer clock) {
        Row options = row.object("options");
        Library.Config config = new Library.Config();
        config.has = Library.HAS_NODE;
        config.layout = row.text("layout");
        config.node = row.number("node");
        config.clock = clock;
        config.overflow = OVERFLOWS.indexOf(options.text("overflow"));
        config.rollback = ROLLBACKS.indexOf(options.text("rollback"));
        if (options.has("sequence_mask")) {
            config.has |= Library.HAS_SEQUENCE_MASK;
            config.sequence_mask = options.number("sequence_mask");
        }
        if (options.has("max_ahead_ms")) {
            config.has |= Library.HAS_MAX_AHEAD;
            config.max_ahead_ms = options.number("max_ahead_ms");
        }
        if (options.has("max_wait_ms")) {
            config.has |= Library.HAS_MAX_WAIT;
            config.max_wait_ms = options.number("max_wait_ms");
        }
        if (row.has("window")) {
            config.has |= Library.HAS_WINDOW;
            config.window_start = row.object("window").number("start");
            config.window_fence = row.object("window").number("fence");
        }
        return config;
    }

    private static void play(Row row, Pointer clock) {
        PointerByReference made = new PointerByReference();
        int status = Library.flakeid_generator_new(config(row, clock), made);
        if (row.has("build_error")) {
            row.object("build_error").refused(status);
            return;
        }
        row.ok(status);
        Pointer generator = made.getValue();
        long[] now = new long[1];
        for (Row step : row.rows("steps")) {
            if (step.has("clock")) {
                step.ok(Library.flakeid_manual_clock_set(clock, step.instant("clock")));
            }
            call(generator, step);
            step.ok(Library.flakeid_manual_clock_get(clock, now));
            step.same(now[0], step.instant("clock_after"));
        }
        Library.Stats stats = new Library.Stats();
        row.ok(Library.flakeid_generator_stats(generator, stats));
        row.same(stats.waits, row.object("stats").number("waits"));
        row.same(stats.rollbacks, row.object("stats").number("rollbacks"));
        row.same(stats.largest_ahead, row.object("stats").number("largest_ahead"));
        Library.flakeid_generator_free(generator);
    }

    private static void call(Pointer generator, Row step) {
        Row expect = step.object("expect");
        long[] output = new long[1];
        long[] ids = step.has("n") ? new long[(int) step.number("n") + 1] : null;
        String call = step.text("call");
        int status =
                switch (call) {
                    case "next_id" -> Library.flakeid_generator_next(generator, output);
                    case "try_next_id" -> Library.flakeid_generator_try_next(generator, output);
                    case "fill" ->
                            Library.flakeid_generator_fill(
                                    generator, ids, ids.length - 1, output);
                    case "try_fill" ->
                            Library.flakeid_generator_try_fill(
                                    generator, ids, ids.length - 1, output);
                    case "extend" ->
                            Library.flakeid_generator_extend(generator, step.number("fence"));
                    case "retire" -> Library.flakeid_generator_retire(generator, output);
                    default -> throw new AssertionError(call);
                };
        if (status != 0) {
            step.same(Library.flakeid_status_code(status), expect.text("error"));
            ms(step, "retry_after_ms", Library.flakeid_retry_after_ms());
            ms(step, "by_ms", Library.flakeid_rollback_ms());
            ms(step, "horizon", Library.flakeid_horizon_ms());
            return;
        }
        step.check(!expect.has("error"), "no error");
        switch (call) {
            case "next_id", "try_next_id" -> step.same(output[0], expect.number("id"));
            case "fill", "try_fill" -> {
                step.same(output[0], expect.number("count"));
                if (output[0] > 0) {
                    step.same(ids[0], expect.number("first"));
                    step.same(ids[(int) output[0] - 1], expect.number("last"));
                }
            }
            case "retire" ->
                    step.same(
                            output[0],
                            expect.has("last_tick")
                                    ? expect.number("last_tick")
                                    : Library.NO_TICK);
            default -> step.check(expect.json().size() == 0, "nothing");
        }
    }

    private static void ms(Row step, String key, long actual) {
        Row expect = step.object("expect");
        step.same(actual, expect.has(key) ? expect.instant(key) : -1);
    }
}
