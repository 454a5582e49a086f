package tests;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.GeneratorBuilder;
import io.github.flakeid.ManualClock;
import io.github.flakeid.Overflow;
import io.github.flakeid.Rollback;
import io.github.flakeid.Stats;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** Tests scripted clocks: the IDs or errors that result from their readings, for every policy. */
final class Schedules {
    private Schedules() {}

    static void run(Path folder) throws IOException {
        for (Row row : Row.load(folder, "schedules").rows("schedules")) {
            play(row, new ManualClock(Instant.ofEpochMilli(row.instant("clock"))));
        }
    }

    private static String constant(String name) {
        return name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static GeneratorBuilder builder(Row row, ManualClock clock) {
        Row options = row.object("options");
        GeneratorBuilder builder = Generator.builder().layout(row.text("layout")).node(row.number("node")).clock(clock);
        builder.overflow(Overflow.valueOf(constant(options.text("overflow"))));
        builder.rollback(Rollback.valueOf(constant(options.text("rollback"))));
        if (options.has("sequence_mask")) {
            builder.sequenceMask(options.number("sequence_mask"));
        }
        if (options.has("max_ahead_ms")) {
            builder.maxAhead(Duration.ofMillis(options.number("max_ahead_ms")));
        }
        if (options.has("max_wait_ms")) {
            builder.maxWait(Duration.ofMillis(options.number("max_wait_ms")));
        }
        if (row.has("window")) {
            builder.window(row.object("window").number("start"), row.object("window").number("fence"));
        }
        return builder;
    }

    private static void play(Row row, ManualClock clock) {
        if (row.has("build_error")) {
            row.object("build_error").refused(() -> builder(row, clock).build());
            return;
        }
        Generator generator = builder(row, clock).build();
        for (Row step : row.rows("steps")) {
            if (step.has("clock")) {
                clock.set(Instant.ofEpochMilli(step.instant("clock")));
            }
            Row expect = step.object("expect");
            if (expect.has("error")) {
                fails(step, expect, step.failure(() -> call(generator, step, expect)));
            } else {
                call(generator, step, expect);
            }
            step.same(clock.time().toEpochMilli(), step.instant("clock_after"));
        }
        Stats stats = generator.stats();
        row.same(stats.waits(), row.object("stats").number("waits"));
        row.same(stats.rollbacks(), row.object("stats").number("rollbacks"));
        row.same(stats.largestAhead(), row.object("stats").number("largest_ahead"));
    }

    private static void call(Generator generator, Row step, Row expect) {
        String call = step.text("call");
        switch (call) {
            case "next_id" -> issued(step, generator.nextId());
            case "try_next_id" -> issued(step, generator.tryNextId());
            case "fill", "try_fill" -> {
                long[] ids = new long[(int) step.number("n")];
                int count = call.equals("fill") ? generator.fill(ids) : generator.tryFill(ids);
                if (!expect.has("error")) {
                    step.same(count, expect.number("count"));
                    if (count > 0) {
                        step.same(ids[0], expect.number("first"));
                        step.same(ids[count - 1], expect.number("last"));
                    }
                }
            }
            case "extend" -> generator.extend(step.number("fence"));
            case "retire" -> {
                long last = generator.retire().orElse(-1);
                if (!expect.has("error")) {
                    step.same(last, expect.has("last_tick") ? expect.number("last_tick") : -1);
                }
            }
            default -> throw new AssertionError(call);
        }
    }

    private static void issued(Row step, long id) {
        if (!step.object("expect").has("error")) {
            step.same(id, step.object("expect").number("id"));
        }
    }

    private static void fails(Row step, Row expect, FlakeidException failure) {
        step.same(failure.code(), expect.text("error"));
        ms(step, expect, "retry_after_ms", failure.retryAfter().map(Duration::toMillis).orElse(-1L));
        ms(step, expect, "by_ms", failure.rollback().map(Duration::toMillis).orElse(-1L));
        ms(step, expect, "horizon", failure.horizon().map(Instant::toEpochMilli).orElse(-1L));
    }

    private static void ms(Row step, Row expect, String key, long actual) {
        step.same(actual, expect.has(key) ? expect.instant(key) : -1);
    }
}
