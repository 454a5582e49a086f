package tests;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.GeneratorBuilder;
import io.github.flakeid.Layout;
import io.github.flakeid.ManualClock;
import io.github.flakeid.PublicIds;
import io.github.flakeid.TextForm;
import java.time.Duration;
import java.time.Instant;

/** Tests input that the types allow: every call is rejected with its code and changes nothing. */
final class Refusals {
    private static final Instant NOW = Instant.ofEpochMilli(1505914988849L);

    private Refusals() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static FlakeidException refused(String code, Runnable call) {
        try {
            call.run();
        } catch (FlakeidException failure) {
            check(failure.code().equals(code), failure.code() + ": " + failure.getMessage());
            int length = failure.getMessage().length();
            check(length >= 10 && length < 1000, "a message of " + length + " characters");
            return failure;
        }
        throw new AssertionError("no " + code);
    }

    /** Checks that errors show only the scheme of a URL, which may contain a password. */
    private static void misplacedUrls() {
        String url = "postgresql://ada:s3cret@127.0.0.1:1/db";
        for (Runnable call : new Runnable[] {
            () -> Layout.of(url),
            () -> TextForm.DECIMAL.decode(url),
            () -> Generator.builder().node(1).layout(url).build(),
            () -> Generator.lease("sqlite://x.db").namespace(url).open(),
            () -> Generator.lease("sqlite://x.db").clock(url).open()
        }) {
            try {
                call.run();
                throw new AssertionError("no refusal");
            } catch (FlakeidException refusal) {
                String shown = refusal + " " + refusal.getMessage();
                check(shown.contains("postgresql://…") && !shown.contains("s3cret"), shown);
            }
        }
    }

    static void run() {
        ManualClock clock = new ManualClock(NOW);
        Generator kept = Generator.builder().node(7).clock(clock).build();
        long first = kept.nextId();
        options();
        misplacedUrls();
        texts();
        instantsAndUrls(clock);
        calls(kept, clock);
        check(kept.nextId() == first + 1, "a rejected call changed the generator");
    }

    private static GeneratorBuilder builder() {
        return Generator.builder();
    }

    private static void options() {
        refused("FLAKEID_INVALID_OPTION", () -> builder().build());
        refused("FLAKEID_INVALID_OPTION", () -> builder().datacenter(1).build());
        refused("FLAKEID_INVALID_OPTION", () -> builder().node(1).datacenter(1).worker(1).build());
        refused("FLAKEID_INVALID_OPTION", () -> builder().layout("plain").datacenter(1).worker(1).build());
        refused("FLAKEID_INVALID_OPTION", () -> builder().node(1).nodes(1, 2).build());
        refused("FLAKEID_INVALID_OPTION", () -> builder().node(1).clock("sun").build());
        refused("FLAKEID_INVALID_OPTION", () -> builder().node(1).sequenceMask(5).build());
        refused("FLAKEID_FIELD_OUT_OF_RANGE", () -> builder().node(1024).build());
        FlakeidException negative = refused("FLAKEID_FIELD_OUT_OF_RANGE", () -> builder().node(-1).build());
        check(negative.getMessage().contains("-1"), negative.getMessage());
        refused("FLAKEID_FIELD_OUT_OF_RANGE", () -> builder().nodes(1, -2).build());
        FlakeidException field =
                refused("FLAKEID_FIELD_OUT_OF_RANGE", () -> builder().datacenter(32).worker(0).build());
        check(field.field().orElseThrow().equals("datacenter"), "the field");
        durations();
        names();
        refused("FLAKEID_FIELD_OUT_OF_RANGE", () -> Generator.lease("sqlite://x").nodeCount(0));
        builder().node(700).maxWait(Duration.ofSeconds(Long.MAX_VALUE)).build().close();
        String[] none = {"", "TWITTER", "twitter ", "twitter\0", "\ud800", "x".repeat(100_000)};
        for (String layout : none) {
            refused("FLAKEID_INVALID_LAYOUT", () -> builder().layout(layout).node(1).build());
            refused("FLAKEID_INVALID_LAYOUT", () -> Layout.of(layout));
        }
        refused("FLAKEID_HORIZON_REACHED", () -> builder().layout("baidu").node(1).build());
        refused("FLAKEID_INVALID_OPTION", () -> Generator.lease("nowhere://").open());
    }

    /** Checks that messages name options and fields as Java does. */
    private static void names() {
        named("sequenceStart 13 is out of range: must be from 0 to 12", () -> builder().node(1).sequenceStart(13).build());
        named("sequenceMask: 5 must be", () -> builder().node(1).sequenceMask(5).build());
        named("either `node`, or `datacenter` with `worker`", () -> builder().node(1).worker(1).build());
        named("window: the range from 5 to 6 is too short", () -> builder().node(1).window(5, 6).build());
        named(
                "window 1 ms is out of range: must be from 2 to 2592000000 ms",
                () -> Generator.lease("sqlite://x").window(Duration.ofMillis(1)).open());
        named("nodes 2 is out of range: must be from 0 to 1", () -> Generator.lease("sqlite://x").nodes(2, 1).open());
        named(
                "maxAge: 1ms is shorter than two ticks",
                () -> builder().node(702).build().cachedBuilder().maxAge(Duration.ofMillis(1)).open());
    }

    private static void named(String part, Runnable call) {
        try {
            call.run();
        } catch (FlakeidException failure) {
            check(failure.getMessage().contains(part), failure.getMessage());
            return;
        }
        throw new AssertionError("no " + part);
    }

    /** Checks that negative durations and parts of a millisecond, which would silently become 0, are rejected. */
    private static void durations() {
        Duration[] wrong = {
            Duration.ofMillis(-1), Duration.ofNanos(1), Duration.ofNanos(1_500_000), Duration.ofSeconds(Long.MIN_VALUE)
        };
        for (Duration value : wrong) {
            bad("maxWait", value, () -> builder().maxWait(value));
            bad("maxAhead", value, () -> builder().maxAhead(value));
            bad("maxWait", value, () -> Generator.lease("sqlite://x").maxWait(value));
            bad("window", value, () -> Generator.lease("sqlite://x").window(value));
            bad("ttl", value, () -> Generator.lease("sqlite://x").ttl(value));
            Generator generator = builder().node(701).build();
            bad("maxAge", value, () -> generator.cachedBuilder().maxAge(value));
            bad("refillInterval", value, () -> generator.cachedBuilder().refillInterval(value));
        }
    }

    private static void bad(String field, Duration value, Runnable call) {
        FlakeidException failure = refused("FLAKEID_FIELD_OUT_OF_RANGE", call);
        check(failure.field().orElseThrow().equals(field), failure.getMessage());
        String message = field + " " + value + " is out of range: must be a whole number of milliseconds from 0 to 2^63 - 1";
        check(failure.getMessage().equals(message), failure.getMessage());
    }

    private static void texts() {
        String[] none = {
            "", "0", "0000000000", "000000000000", "zzzzzzzzzzz", "0000000000-", "0000000000\u00e9", "\ud800",
            "\0", "0".repeat(100_000)
        };
        for (String text : none) {
            refused("FLAKEID_INVALID_ID", () -> TextForm.BASE62.decode(text));
        }
        refused("FLAKEID_INVALID_ID", () -> TextForm.DECIMAL.decode("18446744073709551616"));
        refused("FLAKEID_INVALID_ID", () -> Layout.TWITTER.parts(-1));
    }

    /** Checks that instants beyond 64 bits of milliseconds, and a URL with a NUL, are rejected by name. */
    private static void instantsAndUrls(ManualClock clock) {
        for (Instant far : new Instant[] {Instant.MIN, Instant.MAX}) {
            for (Runnable call : new Runnable[] {
                () -> new ManualClock(far),
                () -> clock.set(far),
                () -> Layout.TWITTER.partsAt(far),
                () -> Layout.TWITTER.lowerBound(far),
                () -> Layout.TWITTER.upperBound(far),
                () -> Layout.TWITTER.timestamp(far),
                () -> Generator.builder().node(1).epoch(far),
                () -> Generator.namespace("sqlite://x.db", "a").epoch(far),
                () -> new PublicIds("", "user", Layout.TWITTER, null, far)
            }) {
                String shown = refused("FLAKEID_FIELD_OUT_OF_RANGE", call).getMessage();
                check(shown.contains(far.toString()) && shown.contains("from -292275055-"), shown);
            }
        }
        for (Runnable call : new Runnable[] {
            () -> Generator.lease("sqlite://a\0b.db"), () -> Generator.namespace("sqlite://a\0b.db", "a")
        }) {
            String shown = refused("FLAKEID_INVALID_OPTION", call).getMessage();
            check(shown.equals("url: contains a NUL; remove it"), shown);
        }
    }

    private static void calls(Generator kept, ManualClock clock) {
        long[] ids = {42, 42};
        refused("FLAKEID_INVALID_OPTION", () -> kept.extend(1));
        refused("FLAKEID_INVALID_OPTION", kept::leaseStatus);
        refused("FLAKEID_FIELD_OUT_OF_RANGE", () -> kept.nextIds(-1));
        check(kept.fill(new long[0]) == 0 && kept.nextIds(0).length == 0, "an empty array is filled");
        Generator ended = Generator.builder().node(8).clock(clock).build();
        check(ended.retire().isEmpty(), "the end");
        refused("FLAKEID_CLOSED", () -> ended.fill(ids));
        refused("FLAKEID_CLOSED", ended::retire);
        check(ids[0] == 42 && ids[1] == 42, "failed calls wrote outputs");
        ended.close();
        ended.close();
        refused("FLAKEID_CLOSED", ended::nextId);
    }
}
