/* Tests that every option of a generator has an effect, with a clock that stands still. */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "check.h"

enum { START = 1505914988 };

static flakeid_manual_clock *manual_clock;

static flakeid_config with_node(uint64_t node) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    config.has = FLAKEID_HAS_NODE;
    config.node = node;
    config.clock = manual_clock;
    return config;
}

static flakeid_generator *built(flakeid_config config) {
    flakeid_generator *generator = NULL;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    return generator;
}

static int64_t now(void) {
    int64_t ms = 0;
    EXPECT(FLAKEID_OK, flakeid_manual_clock_get(manual_clock, &ms));
    return ms;
}

/* Tests a layout with another epoch, and a node of two parts. */
static void layout_and_node(void) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *generator;
    flakeid_parts parts;
    char layout[FLAKEID_DESCRIPTOR_SIZE];
    uint64_t node = 0, id = 0;
    config.has = FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER | FLAKEID_HAS_EPOCH;
    config.clock = manual_clock;
    config.layout = "discord";
    config.epoch = START * INT64_C(1000) - 5;
    config.datacenter = 2;
    config.worker = 3;
    generator = built(config);
    EXPECT(FLAKEID_OK, flakeid_generator_layout(generator, layout, sizeof layout));
    CHECK(strcmp(layout, "t42.d5.w5.s12@1505914987995/1ms") == 0, layout);
    EXPECT(FLAKEID_OK, flakeid_generator_node(generator, &node));
    CHECK(node == 2 * 32 + 3, "the node");
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    EXPECT(FLAKEID_OK, flakeid_decode(layout, id, &parts));
    CHECK(parts.tick == 5 && parts.datacenter == 2 && parts.worker == 3, "the parts");
    EXPECT(FLAKEID_OK, flakeid_parts_at(layout, now(), &parts));
    CHECK(parts.tick == 5 && parts.unix_ms == now() && parts.has == 0, "parts to start from");
    flakeid_generator_free(generator);
}

/*
 * Tests that every kind of option by name has the effect of its field, and is set after the fields.
 */
static void by_name(void) {
    static const char *const pairs[][2] = {
        {"layout", "discord"},
        {"epoch", "1505914987995"},
        {"nodes", "67,66"},
        {"sequence_start", "1"},
        {"overflow", "error"},
        {"max_wait_ms", "250"},
        {"window_start", "6"},
        {"window_fence", "9"},
    };
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_options *options = NULL;
    flakeid_generator *generator;
    flakeid_parts parts;
    char layout[FLAKEID_DESCRIPTOR_SIZE];
    uint64_t id = 0, max_wait_ms = 0;
    size_t at;
    EXPECT(FLAKEID_OK, flakeid_options_new(&options));
    for (at = 0; at < sizeof pairs / sizeof *pairs; at++) {
        EXPECT(FLAKEID_OK, flakeid_options_set(options, pairs[at][0], pairs[at][1]));
    }
    config.clock = manual_clock;
    config.layout = "twitter";
    config.overflow = FLAKEID_OVERFLOW_BORROW;
    config.options = options;
    generator = built(config);
    flakeid_options_free(options);
    EXPECT(FLAKEID_OK, flakeid_generator_layout(generator, layout, sizeof layout));
    CHECK(strcmp(layout, "t42.d5.w5.s12@1505914987995/1ms") == 0, layout);
    EXPECT(FLAKEID_OK, flakeid_generator_max_wait_ms(generator, &max_wait_ms));
    CHECK(max_wait_ms == 250, "the longest wait");
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    EXPECT(FLAKEID_OK, flakeid_decode(layout, id, &parts));
    CHECK(parts.tick == 6 && (parts.node == 66 || parts.node == 67), "the parts");
    flakeid_generator_free(generator);
}

static void sequences(void) {
    uint64_t ids[8];
    size_t count = 0, at, different = 0;
    flakeid_config config = with_node(1);
    flakeid_generator *generator;
    config.has |= FLAKEID_HAS_SEQUENCE_MASK;
    config.sequence_mask = 3;
    generator = built(config);
    EXPECT(FLAKEID_OK, flakeid_generator_try_fill(generator, ids, 8, &count));
    CHECK(count == 4, "the mask");
    EXPECT(FLAKEID_SEQUENCE_EXHAUSTED, flakeid_generator_try_next(generator, ids));
    CHECK(flakeid_retry_after_ms() == 1, "the next tick");
    EXPECT(FLAKEID_SEQUENCE_EXHAUSTED, flakeid_generator_next_within(generator, 0, ids));
    EXPECT(FLAKEID_OK, flakeid_generator_next_within(generator, 1, ids)); /* moves the clock */
    flakeid_generator_free(generator);

    config = with_node(2);
    config.sequence_start = 12;
    generator = built(config);
    for (at = 0; at < 8; at++) {
        EXPECT(FLAKEID_OK, flakeid_manual_clock_advance(manual_clock, 1));
        EXPECT(FLAKEID_OK, flakeid_generator_try_next(generator, ids));
        different += (ids[0] & 4095) != 0;
    }
    CHECK(different > 0, "a random start");
    flakeid_generator_free(generator);
}

static void waiting(void) {
    uint64_t id = 0;
    const int64_t before = now();
    flakeid_config config = with_node(3);
    flakeid_generator *generator;
    config.has |= FLAKEID_HAS_MAX_WAIT;
    config.max_wait_ms = 10;
    config.rollback = FLAKEID_ROLLBACK_WAIT;
    generator = built(config);
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    EXPECT(FLAKEID_OK, flakeid_manual_clock_set(manual_clock, before - 500));
    EXPECT(FLAKEID_CLOCK_ROLLBACK, flakeid_generator_next(generator, &id));
    CHECK(flakeid_rollback_ms() == 490 && now() == before - 490, "waited ten milliseconds");
    EXPECT(FLAKEID_CLOCK_ROLLBACK, flakeid_generator_next_within(generator, 90, &id));
    CHECK(flakeid_rollback_ms() == 400 && now() == before - 400, "waited ninety");
    EXPECT(FLAKEID_OK, flakeid_generator_max_wait_ms(generator, &id));
    CHECK(id == 10, "the value of the option");
    EXPECT(FLAKEID_OK, flakeid_manual_clock_set(manual_clock, before));
    flakeid_generator_free(generator);
}

static void windows(void) {
    uint64_t ids[4], tick = 0;
    size_t count = 0;
    flakeid_config config = with_node(4);
    flakeid_generator *generator;
    EXPECT(FLAKEID_OK, flakeid_tick_at(NULL, now(), &tick));
    config.has |= FLAKEID_HAS_WINDOW | FLAKEID_HAS_MAX_AHEAD | FLAKEID_HAS_SEQUENCE_MASK;
    config.window_start = tick;
    config.window_fence = tick + 2;
    config.max_ahead_ms = 1000;
    config.overflow = FLAKEID_OVERFLOW_BORROW;
    generator = built(config);
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids, 4, &count));
    CHECK(count == 2, "two ticks of one ID");
    EXPECT(FLAKEID_LEASE_EXPIRED, flakeid_generator_next(generator, ids));
    EXPECT(FLAKEID_OK, flakeid_generator_extend(generator, tick + 3));
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, ids));
    EXPECT(FLAKEID_OK, flakeid_generator_retire(generator, ids));
    CHECK(ids[0] == tick + 2, "the last tick");
    flakeid_generator_free(generator);
}

/* Tests that the system's clocks by name are never ahead of the system's time. */
static void named_clocks(void) {
    static const char *const names[] = {"system", "coarse", "gated"};
    size_t at, turn;
    for (at = 0; at < sizeof names / sizeof names[0]; at++) {
        flakeid_config config = with_node(5);
        flakeid_generator *generator;
        uint64_t id = 0, last = 0;
        config.clock = NULL;
        config.clock_name = names[at];
        generator = built(config);
        for (turn = 0; turn < 1000; turn++) {
            struct timespec time;
            flakeid_parts parts;
            EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
            CHECK(clock_gettime(CLOCK_REALTIME, &time) == 0, "the time");
            EXPECT(FLAKEID_OK, flakeid_decode(NULL, id, &parts));
            CHECK(parts.unix_ms <= (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000, names[at]);
            CHECK(last < id, "the order");
            last = id;
        }
        flakeid_generator_free(generator);
    }
}

/* Tests that a generator with four nodes issues four times the IDs in a tick, in order. */
static void several_nodes(void) {
    enum { NODES = 4, TICK = NODES * 4096 };
    static const uint64_t nodes[NODES] = {1000, 6, 20, 7};
    static const uint64_t sorted[NODES] = {6, 7, 20, 1000};
    static uint64_t ids[TICK + 1];
    uint64_t now_nodes[NODES + 1] = {0}, first = 0;
    flakeid_config config = with_node(0);
    flakeid_generator *generator;
    size_t count = 0, at;
    config.has = 0;
    config.nodes = nodes;
    config.node_count = NODES;
    generator = built(config);
    EXPECT(FLAKEID_OK, flakeid_manual_clock_advance(manual_clock, 1));
    EXPECT(FLAKEID_OK, flakeid_generator_try_fill(generator, ids, TICK + 1, &count));
    CHECK(count == TICK, "one tick of four nodes");
    for (at = 0; at < TICK; at++) {
        flakeid_parts parts;
        EXPECT(FLAKEID_OK, flakeid_decode(NULL, ids[at], &parts));
        CHECK(parts.node == sorted[at / 4096] && parts.unix_ms == now(), "the parts");
        CHECK(at == 0 || ids[at - 1] < ids[at], "the order");
    }
    count = 42;
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_generator_nodes(generator, now_nodes, 3, &count));
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_generator_nodes(generator, NULL, 0, &count));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_generator_nodes(generator, NULL, 4, &count));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_generator_nodes(generator, now_nodes, 4, NULL));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_generator_nodes(NULL, now_nodes, 4, &count));
    CHECK(count == 42 && now_nodes[0] == 0, "outputs");
    EXPECT(FLAKEID_OK, flakeid_generator_nodes(generator, now_nodes, NODES + 1, &count));
    CHECK(count == NODES && memcmp(now_nodes, sorted, sizeof sorted) == 0, "the nodes");
    EXPECT(FLAKEID_OK, flakeid_generator_node(generator, &first));
    CHECK(first == 6, "the first node");
    flakeid_generator_free(generator);
    generator = built(with_node(8));
    EXPECT(FLAKEID_OK, flakeid_generator_nodes(generator, now_nodes, 1, &count));
    CHECK(count == 1 && now_nodes[0] == 8, "one node");
    flakeid_generator_free(generator);
}

int main(void) {
    EXPECT(FLAKEID_OK, flakeid_manual_clock_new(START * INT64_C(1000), &manual_clock));
    layout_and_node();
    by_name();
    sequences();
    waiting();
    windows();
    named_clocks();
    several_nodes();
    flakeid_manual_clock_free(manual_clock);
    puts("options: passed");
    return 0;
}
