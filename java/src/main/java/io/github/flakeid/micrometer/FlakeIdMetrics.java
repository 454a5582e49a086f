package io.github.flakeid.micrometer;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * The meters of a generator, for example {@code new FlakeIdMetrics(generator, Tags.of("name",
 * "orders")).bindTo(registry)}. Prometheus shows them with the same names as the metrics of {@code flakeid serve},
 * for example {@code flakeid_window_seconds} and {@code flakeid_lease_renewals_total}. Requires Micrometer, which is
 * an optional dependency of this library. In a Spring Boot application, the auto-configuration binds the meters.
 */
public final class FlakeIdMetrics implements MeterBinder {
    private final Generator generator;
    private final Iterable<Tag> tags;

    /** Creates the meters of a generator, each with the given tags. The application has to close the generator. */
    public FlakeIdMetrics(Generator generator, Iterable<Tag> tags) {
        this.generator = Objects.requireNonNull(generator, "generator");
        this.tags = Objects.requireNonNull(tags, "tags");
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        long end = generator.layout().horizon().toEpochMilli();
        counter("flakeid.waits", "Number of waits for the next ID", of -> of.stats().waits()).register(registry);
        counter("flakeid.rollbacks", "Number of times the clock went backwards", of -> of.stats().rollbacks())
                .register(registry);
        time("flakeid.layout.end.timestamp", "Unix time at which the layout runs out of ticks", of -> end)
                .register(registry);
        if (isLeased()) {
            time("flakeid.window", "Time for which IDs can be issued without the store", FlakeIdMetrics::windowLeft)
                    .register(registry);
            counter("flakeid.lease.grants", "Number of granted nodes", of -> of.leaseStatus().grants())
                    .register(registry);
            counter("flakeid.lease.renewals", "Number of confirmed lease renewals", of -> of.leaseStatus().renewals())
                    .register(registry);
            counter(
                            "flakeid.lease.failures",
                            "Number of failed attempts to acquire or renew a lease",
                            of -> of.leaseStatus().failures())
                    .register(registry);
        }
    }

    private FunctionCounter.Builder<Generator> counter(
            String name, String description, ToDoubleFunction<Generator> count) {
        return FunctionCounter.builder(name, generator, count).description(description).tags(tags);
    }

    private TimeGauge.Builder<Generator> time(String name, String description, ToDoubleFunction<Generator> ms) {
        return TimeGauge.builder(name, generator, TimeUnit.MILLISECONDS, ms).description(description).tags(tags);
    }

    private boolean isLeased() {
        try {
            return generator.leaseStatus() != null;
        } catch (FlakeidException refused) {
            if (refused.code().equals("FLAKEID_INVALID_OPTION")) {
                return false;
            }
            throw refused;
        }
    }

    private static double windowLeft(Generator generator) {
        return generator.leaseStatus().windowLeft(Instant.now()).toMillis();
    }
}
