package io.github.flakeid.spring;

import io.github.flakeid.Generator;
import java.time.Instant;
import java.util.Map;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/** Shows the health of the application's generators in Spring Boot 3. */
final class Boot3HealthIndicator extends AbstractHealthIndicator {
    private final Map<String, Generator> generators;

    Boot3HealthIndicator(Map<String, Generator> generators) {
        this.generators = generators;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.up();
        generators.forEach((name, generator) -> {
            GeneratorHealth of = GeneratorHealth.of(generator, Instant.now());
            health.withDetail(name, of.details());
            if (!of.isUp()) {
                health.down();
            }
        });
    }
}
