package orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.flakeid.Generator;
import io.github.flakeid.ManualClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.annotation.Transactional;

/** Sets the clock. Each run has the same IDs, so every test rolls its rows back. */
@SpringBootTest
@Transactional
class OrderTimeTest {
    private static final Instant START = Instant.ofEpochMilli(1_800_000_000_000L);

    /** Replaces the leased generator of the application. */
    @TestConfiguration
    static class FixedTime {
        @Bean
        ManualClock clock() {
            return new ManualClock(START);
        }

        @Bean
        Generator generator(ManualClock clock) {
            return Generator.builder().node(7).clock(clock).build();
        }
    }

    @Autowired private ManualClock clock;
    @Autowired private OrderRepository orders;

    @Test
    void orderContainsItsTime() {
        assertThat(orders.save(new Order("tea", null)).getCreatedAt()).isEqualTo(START);
        Instant later = START.plus(Duration.ofDays(1));
        clock.set(later);
        assertThat(orders.save(new Order("coffee", null)).getCreatedAt()).isEqualTo(later);
    }
}
