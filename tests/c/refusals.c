/* Tests that invalid input of every kind returns the documented status and changes nothing else. */
#include <limits.h>

#include "check.h"

static flakeid_config with_node(uint64_t node) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    config.has = FLAKEID_HAS_NODE;
    config.node = node;
    return config;
}

/*
 * Checks that creating a generator fails with this status and a message with this reason, and
 * leaves the output unchanged.
 */
static void refuse(flakeid_config config, flakeid_status status, const char *reason) {
    flakeid_generator *generator = NULL;
    CHECK(flakeid_generator_new(&config, &generator) == status, reason);
    CHECK(generator == NULL, reason);
    CHECK(strstr(flakeid_last_error(), reason) != NULL, reason);
}

static void nulls(flakeid_generator *generator, flakeid_manual_clock *clock) {
    flakeid_config config = with_node(1);
    flakeid_generator *none = NULL;
    flakeid_stats stats = FLAKEID_STATS_INIT;
    flakeid_parts parts = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    uint64_t id = 42;
    int64_t ms = 42;
    size_t count = 42;
    char buffer[64] = "kept";
    const flakeid_status null = FLAKEID_NULL_ARGUMENT;

    EXPECT(null, flakeid_generator_new(NULL, &none));
    EXPECT(null, flakeid_generator_new(&config, NULL));
    EXPECT(null, flakeid_generator_next(NULL, &id));
    CHECK(strcmp(flakeid_last_error(), "generator must not be NULL") == 0, "the message");
    EXPECT(null, flakeid_generator_next(generator, NULL));
    EXPECT(null, flakeid_generator_next_within(NULL, 1, &id));
    EXPECT(null, flakeid_generator_next_within(generator, 1, NULL));
    EXPECT(null, flakeid_generator_max_wait_ms(NULL, &id));
    EXPECT(null, flakeid_generator_max_wait_ms(generator, NULL));
    EXPECT(null, flakeid_generator_try_next(NULL, &id));
    EXPECT(null, flakeid_generator_try_next(generator, NULL));
    EXPECT(null, flakeid_generator_fill(NULL, &id, 1, &count));
    CHECK(count == 0, "the count is always written");
    count = 42;
    EXPECT(null, flakeid_generator_fill(generator, NULL, 1, &count));
    CHECK(count == 0, "the count is always written");
    EXPECT(null, flakeid_generator_fill(generator, &id, 1, NULL));
    EXPECT(null, flakeid_generator_try_fill(NULL, &id, 1, &count));
    EXPECT(null, flakeid_generator_try_fill(generator, NULL, 1, &count));
    EXPECT(null, flakeid_generator_try_fill(generator, &id, 1, NULL));
    EXPECT(null, flakeid_generator_extend(NULL, 1));
    EXPECT(null, flakeid_generator_close(NULL));
    EXPECT(null, flakeid_generator_retire(NULL, &id));
    EXPECT(null, flakeid_generator_retire(generator, NULL));
    EXPECT(null, flakeid_generator_stats(NULL, &stats));
    EXPECT(null, flakeid_generator_stats(generator, NULL));
    EXPECT(null, flakeid_generator_expose(NULL, NULL));
    EXPECT(null, flakeid_generator_expose(generator, NULL));
    EXPECT(null, flakeid_generator_node(NULL, &id));
    EXPECT(null, flakeid_generator_node(generator, NULL));
    EXPECT(null, flakeid_generator_layout(NULL, buffer, sizeof buffer));
    EXPECT(null, flakeid_generator_layout(generator, NULL, 64));
    EXPECT(null, flakeid_manual_clock_new(0, NULL));
    EXPECT(null, flakeid_manual_clock_set(NULL, 0));
    EXPECT(null, flakeid_manual_clock_advance(NULL, 0));
    EXPECT(null, flakeid_manual_clock_get(NULL, &ms));
    EXPECT(null, flakeid_manual_clock_get(clock, NULL));
    EXPECT(null, flakeid_layout_descriptor(NULL, NULL, 64));
    EXPECT(null, flakeid_layout_get_info(NULL, NULL));
    EXPECT(null, flakeid_decode(NULL, 0, NULL));
    EXPECT(null, flakeid_pack(NULL, NULL, &id));
    EXPECT(null, flakeid_pack(NULL, &parts, NULL));
    EXPECT(null, flakeid_parts_at(NULL, 0, NULL));
    EXPECT(null, flakeid_join_node(NULL, 0, 0, NULL));
    EXPECT(null, flakeid_tick_at(NULL, 0, NULL));
    EXPECT(null, flakeid_unix_ms_at(NULL, 0, NULL));
    EXPECT(null, flakeid_timestamp(NULL, 0, NULL, 64));
    EXPECT(null, flakeid_lower_bound(NULL, 0, NULL));
    EXPECT(null, flakeid_upper_bound(NULL, 0, NULL));
    EXPECT(null, flakeid_to_bytes(1, NULL, 8));
    EXPECT(null, flakeid_from_bytes(NULL, 8, &id));
    EXPECT(null, flakeid_from_bytes((const uint8_t *)"12345678", 8, NULL));
    EXPECT(null, flakeid_to_decimal(1, NULL, 64));
    EXPECT(null, flakeid_to_base32(1, NULL, 64));
    EXPECT(null, flakeid_to_base36(1, NULL, 64));
    EXPECT(null, flakeid_to_base58(1, NULL, 64));
    EXPECT(null, flakeid_to_base58_flickr(1, NULL, 64));
    EXPECT(null, flakeid_to_zbase32(1, NULL, 64));
    EXPECT(null, flakeid_to_uuid(1, NULL, 64));
    EXPECT(null, flakeid_to_uuid_bytes(1, NULL, 16));
    EXPECT(null, flakeid_to_base62(1, NULL, 64));
    EXPECT(null, flakeid_to_hex(1, NULL, 64));
    EXPECT(null, flakeid_from_decimal(NULL, &id));
    EXPECT(null, flakeid_from_base32(NULL, &id));
    EXPECT(null, flakeid_from_base36(NULL, &id));
    EXPECT(null, flakeid_from_base58(NULL, &id));
    EXPECT(null, flakeid_from_base58_flickr(NULL, &id));
    EXPECT(null, flakeid_from_zbase32(NULL, &id));
    EXPECT(null, flakeid_from_uuid(NULL, &id));
    EXPECT(null, flakeid_from_uuid_bytes(NULL, 16, &id));
    EXPECT(null, flakeid_from_base62(NULL, &id));
    EXPECT(null, flakeid_from_hex(NULL, &id));
    EXPECT(null, flakeid_from_decimal("1", NULL));
    EXPECT(null, flakeid_from_hex("0000000000000001", NULL));
    CHECK(none == NULL && id == 42 && ms == 42 && strcmp(buffer, "kept") == 0, "outputs");
    CHECK(flakeid_retry_after_ms() == -1 && flakeid_last_error_field() == NULL, "no core error");

    /* These functions accept NULL. */
    flakeid_generator_free(NULL);
    flakeid_manual_clock_free(NULL);
    EXPECT(FLAKEID_OK, flakeid_layout_check(NULL));
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, NULL, 0, &count));
    EXPECT(FLAKEID_OK, flakeid_generator_try_fill(generator, NULL, 0, &count));
    CHECK(count == 0, "no IDs");
}

static void nodes(void) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    refuse(config, FLAKEID_INVALID_OPTION, "node: missing");
    config.node = 7;
    refuse(config, FLAKEID_INVALID_OPTION, "node: set, but `has` lacks its FLAKEID_HAS_ flag");
    config = with_node(7);
    config.has |= FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER;
    refuse(config, FLAKEID_INVALID_OPTION, "either `node`, or `datacenter` with `worker`");
    config.has = FLAKEID_HAS_DATACENTER;
    config.node = 0;
    refuse(config, FLAKEID_INVALID_OPTION, "worker: missing");
    config.has = FLAKEID_HAS_WORKER;
    refuse(config, FLAKEID_INVALID_OPTION, "datacenter: missing");
    config.has = FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER;
    config.datacenter = 32;
    refuse(config, FLAKEID_FIELD_OUT_OF_RANGE, "datacenter 32 is out of range");
    CHECK(strcmp(flakeid_last_error_field(), "datacenter") == 0, "the field");
    config.datacenter = 0;
    config.layout = "plain";
    refuse(config, FLAKEID_INVALID_OPTION, "does not split its node");
    refuse(with_node(1024), FLAKEID_FIELD_OUT_OF_RANGE, "must be from 0 to 1023");
    refuse(with_node(UINT64_MAX), FLAKEID_FIELD_OUT_OF_RANGE, "node 18446744073709551615");
}

static void several_nodes(void) {
    static const uint64_t nodes[4] = {1, 2, 1, 1024};
    flakeid_config config = FLAKEID_CONFIG_INIT;
    config.nodes = nodes;
    refuse(config, FLAKEID_INVALID_OPTION, "nodes: 0 nodes");
    config.node_count = 3;
    refuse(config, FLAKEID_INVALID_OPTION, "nodes: 3 nodes");
    config.node_count = 4;
    refuse(config, FLAKEID_INVALID_OPTION, "node 1 is given twice");
    config.nodes = nodes + 2;
    config.node_count = 2;
    refuse(config, FLAKEID_FIELD_OUT_OF_RANGE, "1024");
    config.nodes = nodes;
    config.has = FLAKEID_HAS_SEQUENCE_MASK;
    config.sequence_mask = 4095;
    refuse(config, FLAKEID_INVALID_OPTION, "sequence_mask");
    config.has = FLAKEID_HAS_NODE;
    config.sequence_mask = 0;
    refuse(config, FLAKEID_INVALID_OPTION, "nodes");
    config.has = 0;
    config.nodes = NULL;
    refuse(config, FLAKEID_NULL_ARGUMENT, "nodes must not be NULL");
    config.nodes = nodes;
    config.node_count = SIZE_MAX;
    refuse(config, FLAKEID_FIELD_OUT_OF_RANGE, "node_count");
}

static void clocks(flakeid_manual_clock *clock) {
    static const char *const none[] = {"", "Coarse", "coarse ", "clock", "\xff"};
    flakeid_config config = with_node(1);
    size_t index;
    for (index = 0; index < sizeof none / sizeof none[0]; index++) {
        config.clock_name = none[index];
        refuse(config, FLAKEID_INVALID_OPTION, "clock_name: must be system, coarse");
    }
    config.clock_name = "coarse";
    config.clock = clock;
    refuse(config, FLAKEID_INVALID_OPTION, "cannot be combined with a manual clock");
}

static void options(void) {
    flakeid_config config = with_node(1);
    config.layout = "no such layout";
    refuse(config, FLAKEID_INVALID_LAYOUT, "no such layout");
    config.layout = "twitter\xff";
    refuse(config, FLAKEID_INVALID_LAYOUT, "layout");
    config.layout = "";
    refuse(config, FLAKEID_INVALID_LAYOUT, "layout");
    config.layout = "baidu";
    refuse(config, FLAKEID_HORIZON_REACHED, "ran out at 2024-11-20T13:24:16Z");
    CHECK(flakeid_horizon_ms() == 1732109056000, "the horizon");
    config = with_node(1);
    config.epoch = 5;
    refuse(config, FLAKEID_INVALID_OPTION, "epoch: set, but `has` lacks its");
    config.has |= FLAKEID_HAS_EPOCH;
    config.epoch = -1;
    refuse(config, FLAKEID_INVALID_LAYOUT, "epoch");
    config = with_node(1);
    config.has |= FLAKEID_HAS_SEQUENCE_MASK;
    config.sequence_mask = 4;
    refuse(config, FLAKEID_INVALID_OPTION, "sequence_mask: 4 must be 2^k - 1");
    config = with_node(1);
    config.sequence_start = 13;
    refuse(config, FLAKEID_FIELD_OUT_OF_RANGE, "sequence_start 13");
    config = with_node(1);
    config.overflow = 3;
    refuse(config, FLAKEID_INVALID_OPTION, "overflow: must be wait, error or borrow");
    config.overflow = -1;
    refuse(config, FLAKEID_INVALID_OPTION, "overflow");
    config.overflow = FLAKEID_OVERFLOW_BORROW;
    refuse(config, FLAKEID_INVALID_OPTION, "borrow requires a leased window");
    config = with_node(1);
    config.rollback = INT32_MIN;
    refuse(config, FLAKEID_INVALID_OPTION, "rollback: must be continue");
    config.rollback = FLAKEID_ROLLBACK_CLOCK_SEQUENCE;
    refuse(config, FLAKEID_INVALID_OPTION, "clock-sequence bits");
    config = with_node(1);
    config.window_fence = 1;
    refuse(config, FLAKEID_INVALID_OPTION, "window_fence: set, but `has` lacks its");
    config.has |= FLAKEID_HAS_WINDOW;
    refuse(config, FLAKEID_INVALID_OPTION, "at least 2 ticks");
    config = with_node(1);
    config.has |= 1u << 31;
    refuse(config, FLAKEID_INVALID_OPTION, "flags that this struct does not have");
    config = with_node(1);
    config.reserved = 1;
    refuse(config, FLAKEID_INVALID_OPTION, "reserved");
    config = with_node(1);
    config.max_wait_ms = 1;
    refuse(config, FLAKEID_INVALID_OPTION, "max_wait_ms: set, but `has` lacks its");
    config = with_node(1);
    config.max_ahead_ms = 1;
    refuse(config, FLAKEID_INVALID_OPTION, "max_ahead_ms: set, but `has` lacks its");
}

/* Tests structs of programs that are older or newer than the library. */
static void sizes(flakeid_generator *generator) {
    static const uint32_t wrong[] = {0, 1, 4, 7, 9, 90};
    struct {
        flakeid_config config;
        uint64_t later;
    } newer;
    struct {
        flakeid_stats stats;
        uint64_t later;
    } more;
    flakeid_config config = with_node(3);
    flakeid_generator *made = NULL;
    flakeid_stats stats = FLAKEID_STATS_INIT;
    flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
    size_t index;
    for (index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        config.struct_size = stats.struct_size = info.struct_size = wrong[index];
        refuse(config, FLAKEID_INVALID_OPTION, "struct_size");
        EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_stats(generator, &stats));
        EXPECT(FLAKEID_INVALID_OPTION, flakeid_layout_get_info(NULL, &info));
    }
    config = with_node(3);
    config.struct_size = (uint32_t)offsetof(flakeid_config, window_fence);
    refuse(config, FLAKEID_INVALID_OPTION, "struct_size");
    /* A program of the first release has a shorter struct, so the memory after it is ignored. */
    config.struct_size = (uint32_t)offsetof(flakeid_config, clock_name);
    config.clock_name = "nonsense";
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &made));
    flakeid_generator_free(made);

    newer.config = with_node(3);
    newer.config.struct_size = sizeof newer;
    newer.later = 0;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&newer.config, &made));
    flakeid_generator_free(made);
    newer.later = 1;
    made = NULL;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_new(&newer.config, &made));
    CHECK(strstr(flakeid_last_error(), "does not know") && made == NULL, "a field set");

    more.stats.struct_size = sizeof more;
    more.later = 42;
    EXPECT(FLAKEID_OK, flakeid_generator_stats(generator, &more.stats));
    CHECK(more.later == 0, "fields that an older library does not know become 0");
}

/*
 * Tests that an option by name is rejected as its field is, and that messages have the names of a
 * language.
 */
static void by_name(void) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_lease_config lease = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *made = NULL;
    flakeid_options *options = NULL;
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_options_new(NULL));
    EXPECT(FLAKEID_OK, flakeid_options_new(&options));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_options_set(NULL, "node", "7"));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_options_set(options, NULL, "7"));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_options_set(options, "node", NULL));
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_options_set(options, "nod", "7"));
    CHECK(strstr(flakeid_last_error(), "\"nod\" is not the name of an option") != NULL,
          flakeid_last_error());
    config.options = lease.options = options;
    EXPECT(FLAKEID_OK, flakeid_options_set(options, "node", "1024"));
    refuse(config, FLAKEID_FIELD_OUT_OF_RANGE, "node 1024 is out of range: must be from 0 to 1023");
    CHECK(strcmp(flakeid_last_error_spelled(FLAKEID_SPELLING_GO),
                 "WithNode 1024 is out of range: must be from 0 to 1023") == 0, "the message in Go");
    CHECK(strcmp(flakeid_last_error_field_spelled(FLAKEID_SPELLING_GO), "WithNode") == 0, "in Go");
    CHECK(strcmp(flakeid_last_error_field(), "node") == 0, "the field");
    EXPECT(FLAKEID_OK, flakeid_options_set(options, "node", "seven"));
    refuse(config, FLAKEID_FIELD_OUT_OF_RANGE, "node seven is out of range");
    EXPECT(FLAKEID_OK, flakeid_options_set(options, "node", "7"));
    EXPECT(FLAKEID_OK, flakeid_options_set(options, "window_ms", "1"));
    refuse(config, FLAKEID_INVALID_OPTION, "no option \"window_ms\"; the options are node: number, ");
    EXPECT(FLAKEID_FIELD_OUT_OF_RANGE, flakeid_generator_open("sqlite://never.db", &lease, &made));
    CHECK(strcmp(flakeid_last_error(),
                 "window_ms 1 is out of range: must be from 2 to 2592000000") == 0, "in C");
    CHECK(strcmp(flakeid_last_error_spelled(FLAKEID_SPELLING_CPP),
                 "window 1 ms is out of range: must be from 2 to 2592000000 ms") == 0, "in C++");
    CHECK(strcmp(flakeid_last_error_spelled(FLAKEID_SPELLING_JAVA),
                 "window 1 ms is out of range: must be from 2 to 2592000000 ms") == 0, "in Java");
    CHECK(strncmp(flakeid_last_error_spelled(FLAKEID_SPELLING_GO), "WithLeaseWindow 1 ms", 20) == 0,
          "in Go");
    CHECK(strncmp(flakeid_last_error_spelled(-1), "window_ms 1 is", 14) == 0, "another number");
    lease.options = NULL;
    lease.has = FLAKEID_HAS_NODES;
    lease.first_node = 2;
    lease.last_node = 1;
    EXPECT(FLAKEID_FIELD_OUT_OF_RANGE, flakeid_generator_open("sqlite://never.db", &lease, &made));
    CHECK(strcmp(flakeid_last_error(), "first_node 2 is out of range: must be from 0 to 1") == 0,
          "the field of C");
    EXPECT(FLAKEID_OK, flakeid_options_set(options, "epoch", "soon"));
    refuse(config, FLAKEID_INVALID_OPTION, "epoch: must be a whole number of Unix milliseconds");
    flakeid_options_free(options);
    flakeid_options_free(NULL);
}

static void buffers(flakeid_generator *generator) {
    const char *twitter = "t41.d5.w5.s12@1288834974657/1ms";
    char buffer[64] = "kept";
    uint8_t bytes[8] = {1};
    uint64_t id = 42;
    size_t count = 42;
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_generator_layout(generator, buffer, strlen(twitter)));
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_layout_descriptor(NULL, buffer, 0));
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_timestamp(NULL, 0, buffer, 5));
    CHECK(strstr(flakeid_last_error(), "5 bytes, but must have 25") != NULL, "the message");
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_to_bytes(1, bytes, 7));
    CHECK(strcmp(buffer, "kept") == 0 && bytes[0] == 1, "nothing is written");
    EXPECT(FLAKEID_OK, flakeid_generator_layout(generator, buffer, strlen(twitter) + 1));
    CHECK(strcmp(buffer, twitter) == 0, "the default");
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_bytes(bytes, 0, &id));
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_bytes(bytes, 7, &id));
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_bytes(bytes, 9, &id));
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_decimal("\xff\xfe", &id));
    EXPECT(FLAKEID_FIELD_OUT_OF_RANGE, flakeid_generator_fill(generator, &id, SIZE_MAX, &count));
    CHECK(id == 42 && count == 0, "outputs");
    /* The longest strings fit the sizes that the header promises. */
    EXPECT(FLAKEID_OK, flakeid_timestamp("t1.n1.s1@0/1ms", INT64_MIN, buffer,
                                         FLAKEID_TIMESTAMP_SIZE));
    EXPECT(FLAKEID_OK, flakeid_timestamp("t1.n1.s1@0/1ms", INT64_MAX, buffer,
                                         FLAKEID_TIMESTAMP_SIZE));
}

/*
 * Tests invalid layouts in all functions that take one, and numbers that a layout cannot represent.
 */
static void layouts(void) {
    static const char *const none[] = {"", "TWITTER", "twitter ", "t41.n10.s12@0/1m", "\xff", "-"};
    const flakeid_status invalid = FLAKEID_INVALID_LAYOUT;
    flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
    flakeid_parts parts = {42, 0, 0, 0, 0, 0, 0, 0, 0};
    uint64_t id = 42;
    int64_t ms = 42;
    char buffer[FLAKEID_DESCRIPTOR_SIZE] = "kept";
    size_t index;
    for (index = 0; index < sizeof none / sizeof none[0]; index++) {
        EXPECT(invalid, flakeid_layout_check(none[index]));
        EXPECT(invalid, flakeid_layout_descriptor(none[index], buffer, sizeof buffer));
        EXPECT(invalid, flakeid_layout_get_info(none[index], &info));
        EXPECT(invalid, flakeid_decode(none[index], 1, &parts));
        EXPECT(invalid, flakeid_pack(none[index], &parts, &id));
        EXPECT(invalid, flakeid_parts_at(none[index], 0, &parts));
        EXPECT(invalid, flakeid_join_node(none[index], 0, 0, &id));
        EXPECT(invalid, flakeid_tick_at(none[index], 0, &id));
        EXPECT(invalid, flakeid_unix_ms_at(none[index], 0, &ms));
        EXPECT(invalid, flakeid_timestamp(none[index], 0, buffer, sizeof buffer));
        EXPECT(invalid, flakeid_lower_bound(none[index], 0, &id));
        EXPECT(invalid, flakeid_upper_bound(none[index], 0, &id));
    }
    EXPECT(FLAKEID_INVALID_ID, flakeid_decode(NULL, UINT64_MAX, &parts));
    EXPECT(FLAKEID_BEFORE_EPOCH, flakeid_tick_at(NULL, 0, &id));
    EXPECT(FLAKEID_BEFORE_EPOCH, flakeid_parts_at(NULL, 0, &parts));
    EXPECT(FLAKEID_HORIZON_REACHED, flakeid_tick_at(NULL, INT64_MAX, &id));
    EXPECT(FLAKEID_FIELD_OUT_OF_RANGE, flakeid_join_node(NULL, 32, 0, &id));
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_join_node("plain", 0, 1, &id));
    CHECK(id == 42 && ms == 42 && parts.tick == 42 && strcmp(buffer, "kept") == 0, "outputs");
}

/*
 * Tests strings that are too short, too long or too large, or that contain characters outside the
 * text form.
 */
static void texts(void) {
    static const char *const none[] = {"", "0", "0000000000", "000000000000", "zzzzzzzzzzz",
                                       "0000000000-", "0000000000\xc3\xa9"};
    static char long_text[100000];
    uint64_t id = 42;
    size_t index;
    for (index = 0; index < sizeof none / sizeof none[0]; index++) {
        EXPECT(FLAKEID_INVALID_ID, flakeid_from_base62(none[index], &id));
    }
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_decimal("18446744073709551616", &id));
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_hex("0x00000000000001", &id));
    memset(long_text, '0', sizeof long_text - 1);
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_decimal(long_text, &id));
    EXPECT(FLAKEID_INVALID_ID, flakeid_from_base62(long_text, &id));
    EXPECT(FLAKEID_INVALID_LAYOUT, flakeid_layout_check(long_text));
    CHECK(id == 42, "outputs");
    CHECK(strlen(flakeid_last_error()) < 1000, "the message repeats the whole input");
}

static void after_the_end(flakeid_generator *generator) {
    uint64_t tick = 42, id = 42;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_extend(generator, 5));
    EXPECT(FLAKEID_OK, flakeid_generator_retire(generator, &tick));
    CHECK(tick == FLAKEID_NO_TICK, "nothing was issued");
    EXPECT(FLAKEID_CLOSED, flakeid_generator_retire(generator, &tick));
    EXPECT(FLAKEID_CLOSED, flakeid_generator_next(generator, &id));
    CHECK(id == 42, "outputs");
    CHECK(strcmp(flakeid_status_code(FLAKEID_CLOSED), "FLAKEID_CLOSED") == 0, "the code");
}

int main(void) {
    flakeid_config config = with_node(7);
    flakeid_manual_clock *clock = NULL;
    flakeid_generator *generator = NULL, *kept = NULL;
    flakeid_stats stats = FLAKEID_STATS_INIT;
    uint64_t node = 0, first = 0, next = 0;
    CHECK(strcmp(flakeid_last_error(), "") == 0, "no call has failed yet");
    CHECK(flakeid_retry_after_ms() == -1 && flakeid_horizon_ms() == -1, "no call has failed yet");
    CHECK(flakeid_abi_version() == FLAKEID_ABI_VERSION, "header and library");
    CHECK(strcmp(flakeid_version(), FLAKEID_VERSION) == 0, "header and library");
    EXPECT(FLAKEID_OK, flakeid_manual_clock_new(1505914988849, &clock));
    config.clock = clock;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    EXPECT(FLAKEID_OK, flakeid_generator_node(generator, &node));
    CHECK(node == 7, "the node");
    config.node = 8;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &kept));
    EXPECT(FLAKEID_OK, flakeid_generator_next(kept, &first));
    nulls(generator, clock);
    nulls(kept, clock);
    nodes();
    several_nodes();
    clocks(clock);
    options();
    by_name();
    layouts();
    texts();
    sizes(generator);
    sizes(kept);
    buffers(generator);
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_extend(kept, 5));
    EXPECT(FLAKEID_OK, flakeid_generator_stats(kept, &stats));
    EXPECT(FLAKEID_OK, flakeid_generator_next(kept, &next));
    CHECK(stats.waits == 0 && next == first + 1, "a rejected call changed the generator");
    flakeid_generator_free(kept);
    after_the_end(generator);
    flakeid_manual_clock_free(clock);
    flakeid_generator_free(generator);
    puts("refusals: passed");
    return 0;
}
