package tests;

import io.github.flakeid.Generator;
import io.github.flakeid.LeaseBuilder;
import io.github.flakeid.LeaseEvent;
import io.github.flakeid.LeaseEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Tests the events of a lease. */
final class Events {
    private static final Duration WINDOW = Duration.ofMillis(400);

    private Events() {}

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static void run(String url) throws Exception {
        told(url);
        ousted(url);
        throwing(url);
        slow(url);
        closing(url);
    }

    private static LeaseBuilder lease(String url) {
        return Generator.lease(url).namespace("events").window(WINDOW);
    }

    private static LeaseEvent next(BlockingQueue<LeaseEvent> events) throws InterruptedException {
        LeaseEvent event = events.poll(20, TimeUnit.SECONDS);
        check(event != null, "an event");
        return event;
    }

    private static void told(String url) throws InterruptedException {
        BlockingQueue<LeaseEvent> events = new LinkedBlockingQueue<>();
        Generator generator = lease(url).onEvent(events::add).open();
        LeaseEvent acquired = next(events);
        check(acquired.kind() == Kind.ACQUIRED && acquired.node() == generator.node(), acquired.toString());
        check(0 < acquired.start() && acquired.start() < acquired.fence(), acquired.toString());
        LeaseEvent renewed = next(events);
        check(renewed.kind() == Kind.RENEWED && renewed.node() == generator.node(), renewed.toString());
        check(renewed.fence() > acquired.fence() && renewed.start() == 0, renewed.toString());
        check(acquired.error() == null && renewed.error() == null, "no error");
        generator.close();
        List<LeaseEvent> rest = new ArrayList<>();
        events.drainTo(rest);
        check(!rest.isEmpty() && rest.get(rest.size() - 1).kind() == Kind.RELEASED, "the end: " + rest);
        generator.close();
        check(events.poll(2 * WINDOW.toMillis(), TimeUnit.MILLISECONDS) == null, "an event after close");
    }

    /** Checks that an event contains the cause of a failure. */
    private static void ousted(String url) throws InterruptedException {
        BlockingQueue<LeaseEvent> events = new LinkedBlockingQueue<>();
        try (Generator first = lease(url).node(3).onEvent(events::add).open()) {
            first.nextId();
            try (Generator second = lease(url).node(3).onEvent(event -> {}).open()) {
                second.nextId();
                LeaseEvent event = next(events);
                while (event.kind() == Kind.ACQUIRED || event.kind() == Kind.RENEWED) {
                    event = next(events);
                }
                check(event.kind() == Kind.REFUSED && event.node() == 0, event.toString());
                check(event.error().getMessage().contains("another process"), event.toString());
                event = next(events);
                check(event.kind() == Kind.FENCED_OFF && event.node() == 3, event.toString());
                check(event.error().code().startsWith("FLAKEID_"), event.toString());
            }
        }
    }

    /** Checks that an exception of an observer is reported and the next event follows. */
    private static void throwing(String url) throws InterruptedException {
        BlockingQueue<LeaseEvent> events = new LinkedBlockingQueue<>();
        AtomicInteger reported = new AtomicInteger();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> reported.incrementAndGet());
        try (Generator generator = lease(url).onEvent(event -> fail(events, event)).open()) {
            check(next(events).kind() == Kind.ACQUIRED && next(events).kind() == Kind.RENEWED, "the next event");
            generator.nextId();
            check(generator.leaseStatus().lastError().equals("FLAKEID_OK"), "the lease");
        }
        Thread.setDefaultUncaughtExceptionHandler(before);
        check(reported.get() >= 3, reported + " reports");
    }

    private static void fail(BlockingQueue<LeaseEvent> events, LeaseEvent event) {
        events.add(event);
        throw new IllegalStateException("an observer that throws");
    }

    /** Checks that an observer that does not return blocks neither the lease nor, for long, a call of close. */
    private static void slow(String url) throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        Generator generator = lease(url).onEvent(event -> await(calls, end)).open();
        while (generator.leaseStatus().renewals() < 3) {
            generator.nextId();
            Thread.sleep(10);
        }
        long start = System.nanoTime();
        generator.close();
        long tookMs = (System.nanoTime() - start) / 1_000_000;
        check(tookMs < 10_000, "close took " + tookMs + " ms");
        end.countDown();
        Thread.sleep(50);
        check(calls.get() == 1, "a call that began after close: " + calls);
    }

    private static void await(AtomicInteger calls, CountDownLatch end) {
        calls.incrementAndGet();
        try {
            end.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** Checks that the observer can close the generator and is not called afterwards. */
    private static void closing(String url) throws Exception {
        CompletableFuture<Generator> opened = new CompletableFuture<>();
        CompletableFuture<Kind> closed = new CompletableFuture<>();
        AtomicInteger calls = new AtomicInteger();
        Generator generator =
                lease(url)
                        .onEvent(
                                event -> {
                                    calls.incrementAndGet();
                                    opened.join().close();
                                    closed.complete(event.kind());
                                })
                        .open();
        opened.complete(generator);
        check(closed.get(20, TimeUnit.SECONDS) == Kind.ACQUIRED, "the first event");
        Refusals.refused("FLAKEID_CLOSED", generator::nextId);
        Thread.sleep(50);
        check(calls.get() == 1, "a call that began after close: " + calls);
    }
}
