#include "../check.h"
#include "vectors.h"

/* Returns the index of a name in the core's list, or for an unknown name a number that the library rejects. */
static int32_t place(const char *const *names, int32_t count, const char *name) {
    int32_t index = 0;
    while (index < count && strcmp(names[index], name) != 0) {
        index++;
    }
    return index;
}

static flakeid_status build(const json_t *row, const flakeid_manual_clock *clock,
                            flakeid_generator **generator) {
    static const char *const overflows[] = {"wait", "error", "borrow"};
    static const char *const rollbacks[] = {"continue", "error", "wait", "clock-sequence"};
    const json_t *options = json_object_get(row, "options");
    const json_t *window = json_object_get(row, "window");
    flakeid_config config = FLAKEID_CONFIG_INIT;
    config.has = FLAKEID_HAS_NODE;
    config.layout = text(row, "layout");
    config.node = number(row, "node");
    config.clock = clock;
    config.overflow = place(overflows, 3, text(options, "overflow"));
    config.rollback = place(rollbacks, 4, text(options, "rollback"));
    if (is_given(options, "sequence_mask")) {
        config.has |= FLAKEID_HAS_SEQUENCE_MASK;
        config.sequence_mask = number(options, "sequence_mask");
    }
    if (is_given(options, "max_ahead_ms")) {
        config.has |= FLAKEID_HAS_MAX_AHEAD;
        config.max_ahead_ms = number(options, "max_ahead_ms");
    }
    if (is_given(options, "max_wait_ms")) {
        config.has |= FLAKEID_HAS_MAX_WAIT;
        config.max_wait_ms = number(options, "max_wait_ms");
    }
    if (json_is_object(window)) {
        config.has |= FLAKEID_HAS_WINDOW;
        config.window_start = number(window, "start");
        config.window_fence = number(window, "fence");
    }
    return flakeid_generator_new(&config, generator);
}

static void check_ms(int64_t actual, const json_t *expect, const char *key, const char *where) {
    CHECK(actual == (is_given(expect, key) ? instant(expect, key) : -1), where);
}

static void check_error(flakeid_status status, const json_t *expect, const char *where) {
    CHECK(is_given(expect, "error") && status == status_of(text(expect, "error")), where);
    check_ms(flakeid_retry_after_ms(), expect, "retry_after_ms", where);
    check_ms(flakeid_rollback_ms(), expect, "by_ms", where);
    check_ms(flakeid_horizon_ms(), expect, "horizon", where);
}

static void check_fill(const flakeid_generator *generator, const json_t *step, int waits,
                       const char *where) {
    const json_t *expect = json_object_get(step, "expect");
    size_t n = (size_t)number(step, "n"), count = 42;
    uint64_t *ids = calloc(n + 1, sizeof *ids);
    flakeid_status status;
    CHECK(ids != NULL, where);
    status = waits ? flakeid_generator_fill(generator, ids, n, &count)
                   : flakeid_generator_try_fill(generator, ids, n, &count);
    if (status != FLAKEID_OK) {
        CHECK(count == 0, where);
        check_error(status, expect, where);
    } else {
        CHECK(is_given(expect, "count") && count == number(expect, "count"), where);
        CHECK(count > 0 || !is_given(expect, "first"), where);
        if (count > 0) {
            CHECK(ids[0] == number(expect, "first"), where);
            CHECK(ids[count - 1] == number(expect, "last"), where);
        }
        CHECK(count == n || ids[count] == 0, where);
    }
    free(ids);
}

static void check_step(const flakeid_generator *generator, const json_t *step, const char *where) {
    const json_t *expect = json_object_get(step, "expect");
    const char *call = text(step, "call");
    uint64_t output = 42;
    flakeid_status status;
    if (strcmp(call, "fill") == 0 || strcmp(call, "try_fill") == 0) {
        check_fill(generator, step, call[0] == 'f', where);
        return;
    }
    if (strcmp(call, "next_id") == 0) {
        status = flakeid_generator_next(generator, &output);
    } else if (strcmp(call, "try_next_id") == 0) {
        status = flakeid_generator_try_next(generator, &output);
    } else if (strcmp(call, "extend") == 0) {
        status = flakeid_generator_extend(generator, number(step, "fence"));
    } else {
        CHECK(strcmp(call, "retire") == 0, where);
        status = flakeid_generator_retire(generator, &output);
    }
    if (status != FLAKEID_OK) {
        CHECK(output == 42, where);
        check_error(status, expect, where);
        return;
    }
    CHECK(!is_given(expect, "error"), where);
    if (json_object_get(expect, "id") != NULL) {
        CHECK(output == number(expect, "id"), where);
    } else if (json_object_get(expect, "last_tick") != NULL) {
        CHECK(output == (is_given(expect, "last_tick") ? number(expect, "last_tick")
                                                       : FLAKEID_NO_TICK),
              where);
    } else {
        CHECK(json_object_size(expect) == 0, where);
    }
}

static void check_schedule(const json_t *row) {
    const char *name = text(row, "name");
    const json_t *expected = json_object_get(row, "build_error"), *step;
    flakeid_manual_clock *clock = NULL;
    flakeid_generator *generator = NULL;
    flakeid_stats stats = FLAKEID_STATS_INIT;
    flakeid_status status;
    size_t index;
    int64_t now = 0;
    EXPECT(FLAKEID_OK, flakeid_manual_clock_new(instant(row, "clock"), &clock));
    status = build(row, clock, &generator);
    if (json_is_object(expected)) {
        const char *field = flakeid_last_error_field();
        CHECK(status == status_of(text(expected, "code")) && generator == NULL, name);
        CHECK(!field == !is_given(expected, "field"), name);
        CHECK(!field || strcmp(field, text(expected, "field")) == 0, name);
        flakeid_manual_clock_free(clock);
        return;
    }
    CHECK(status == FLAKEID_OK, name);
    json_array_foreach(rows(row, "steps"), index, step) {
        if (is_given(step, "clock")) {
            EXPECT(FLAKEID_OK, flakeid_manual_clock_set(clock, instant(step, "clock")));
        }
        check_step(generator, step, name);
        EXPECT(FLAKEID_OK, flakeid_manual_clock_get(clock, &now));
        CHECK(now == instant(step, "clock_after"), name);
    }
    flakeid_manual_clock_free(clock); /* the generator keeps its own reference */
    row = json_object_get(row, "stats");
    EXPECT(FLAKEID_OK, flakeid_generator_stats(generator, &stats));
    CHECK(stats.waits == number(row, "waits"), name);
    CHECK(stats.rollbacks == number(row, "rollbacks"), name);
    CHECK(stats.largest_ahead == number(row, "largest_ahead"), name);
    flakeid_generator_free(generator);
}

void test_schedules(void) {
    json_t *file = load("schedules");
    size_t index;
    const json_t *row;
    json_array_foreach(rows(file, "schedules"), index, row) {
        check_schedule(row);
    }
    json_decref(file);
}
