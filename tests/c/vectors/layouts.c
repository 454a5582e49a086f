#include "../check.h"
#include "vectors.h"

static void check_presets(const json_t *file) {
    size_t index;
    const json_t *row;
    CHECK(json_array_size(rows(file, "presets")) == flakeid_preset_count(), "presets");
    CHECK(flakeid_preset_name(flakeid_preset_count()) == NULL, "presets");
    json_array_foreach(rows(file, "presets"), index, row) {
        const char *name = flakeid_preset_name(index);
        flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
        char buffer[FLAKEID_DESCRIPTOR_SIZE], horizon[FLAKEID_TIMESTAMP_SIZE];
        CHECK(strcmp(name, text(row, "name")) == 0, shown(row));
        EXPECT(FLAKEID_OK, flakeid_layout_descriptor(name, buffer, sizeof buffer));
        CHECK(strcmp(buffer, text(row, "descriptor")) == 0, shown(row));
        EXPECT(FLAKEID_OK, flakeid_layout_get_info(name, &info));
        CHECK(info.width == number(row, "width"), shown(row));
        CHECK(info.max_tick == number(row, "max_tick"), shown(row));
        CHECK(info.max_node == number(row, "max_node"), shown(row));
        CHECK(info.max_sequence == number(row, "max_sequence"), shown(row));
        CHECK(info.ids_per_tick == number(row, "ids_per_tick"), shown(row));
        CHECK(info.horizon == instant(row, "horizon_unix_ms"), shown(row));
        CHECK(info.fits_i64_until == instant(row, "fits_i64_until_unix_ms"), shown(row));
        CHECK(!info.is_split == !json_is_true(json_object_get(row, "split")), shown(row));
        CHECK(!info.can_generate == !json_is_true(json_object_get(row, "generates")), shown(row));
        EXPECT(FLAKEID_OK, flakeid_timestamp(name, info.horizon, horizon, sizeof horizon));
        CHECK(strcmp(horizon, text(row, "horizon")) == 0, shown(row));
    }
}

/* Reports whether a generator can be built for the layout at its epoch. */
static int generates(const char *layout) {
    flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_manual_clock *clock = NULL;
    flakeid_generator *generator = NULL;
    flakeid_status status;
    EXPECT(FLAKEID_OK, flakeid_layout_get_info(layout, &info));
    EXPECT(FLAKEID_OK, flakeid_manual_clock_new(info.epoch, &clock));
    config.layout = layout;
    config.has = FLAKEID_HAS_NODE;
    config.clock = clock;
    status = flakeid_generator_new(&config, &generator);
    CHECK(status == FLAKEID_OK || status == FLAKEID_INVALID_LAYOUT, layout);
    CHECK(!info.can_generate == (status != FLAKEID_OK), layout);
    flakeid_generator_free(generator);
    flakeid_manual_clock_free(clock);
    return status == FLAKEID_OK;
}

static void check_descriptors(const json_t *lists) {
    size_t index;
    const json_t *row;
    json_array_foreach(rows(lists, "valid"), index, row) {
        char buffer[FLAKEID_DESCRIPTOR_SIZE], again[FLAKEID_DESCRIPTOR_SIZE];
        EXPECT(FLAKEID_OK, flakeid_layout_check(text(row, "text")));
        EXPECT(FLAKEID_OK, flakeid_layout_descriptor(text(row, "text"), buffer, sizeof buffer));
        CHECK(strcmp(buffer, text(row, "canonical")) == 0, shown(row));
        EXPECT(FLAKEID_OK, flakeid_layout_descriptor(buffer, again, sizeof again));
        CHECK(strcmp(again, text(row, "canonical")) == 0, shown(row));
        CHECK(generates(text(row, "text")) == json_is_true(json_object_get(row, "generates")),
              shown(row));
    }
    json_array_foreach(rows(lists, "invalid"), index, row) {
        if (strlen(text(row, "text")) == json_string_length(json_object_get(row, "text"))) {
            CHECK(flakeid_layout_check(text(row, "text")) == FLAKEID_INVALID_LAYOUT, shown(row));
        }
    }
}

static void check_ids(const json_t *file) {
    size_t index, byte;
    const json_t *row;
    json_array_foreach(rows(file, "ids"), index, row) {
        const char *layout = text(row, "layout");
        uint64_t id = number(row, "id"), again = 0, node = 0;
        flakeid_parts parts;
        uint8_t bytes[8];
        char hex[17];
        EXPECT(FLAKEID_OK, flakeid_decode(layout, id, &parts));
        CHECK(parts.tick == number(row, "tick"), shown(row));
        CHECK(parts.unix_ms == instant(row, "unix_ms"), shown(row));
        CHECK(parts.node == number(row, "node"), shown(row));
        CHECK(parts.clock_sequence == number(row, "clock_sequence"), shown(row));
        CHECK(parts.sequence == number(row, "sequence"), shown(row));
        CHECK(!(parts.has & FLAKEID_HAS_DATACENTER) == !is_given(row, "datacenter"), shown(row));
        CHECK(!(parts.has & FLAKEID_HAS_WORKER) == !is_given(row, "worker"), shown(row));
        if (is_given(row, "datacenter")) {
            CHECK(parts.datacenter == number(row, "datacenter"), shown(row));
            CHECK(parts.worker == number(row, "worker"), shown(row));
            EXPECT(FLAKEID_OK, flakeid_join_node(layout, parts.datacenter, parts.worker, &node));
            CHECK(node == parts.node, shown(row));
        }
        EXPECT(FLAKEID_OK, flakeid_pack(layout, &parts, &again));
        CHECK(again == id, shown(row));
        parts.has = 0;
        EXPECT(FLAKEID_OK, flakeid_pack(layout, &parts, &again));
        CHECK(again == id, shown(row));
        EXPECT(FLAKEID_OK, flakeid_to_bytes(id, bytes, sizeof bytes));
        for (byte = 0; byte < sizeof bytes; byte++) {
            snprintf(hex + 2 * byte, 3, "%02x", bytes[byte]);
        }
        CHECK(strcmp(hex, text(row, "bytes")) == 0, shown(row));
        EXPECT(FLAKEID_OK, flakeid_from_bytes(bytes, sizeof bytes, &again));
        CHECK(again == id, shown(row));
        if (is_given(row, "timestamp")) {
            char stamp[FLAKEID_TIMESTAMP_SIZE];
            EXPECT(FLAKEID_OK, flakeid_timestamp(layout, parts.unix_ms, stamp, sizeof stamp));
            CHECK(strcmp(stamp, text(row, "timestamp")) == 0, shown(row));
        }
    }
}

static void check_field(const json_t *row) {
    const char *field = flakeid_last_error_field();
    const char *expected = json_string_value(json_object_get(row, "field"));
    CHECK(!field == !expected && (!field || strcmp(field, expected) == 0), shown(row));
}

static void check_rejected(const json_t *file) {
    size_t index;
    const json_t *row;
    uint64_t output = 42;
    json_array_foreach(rows(file, "rejected_parts"), index, row) {
        flakeid_parts parts = {0, 0, 0, 0, 0, 0, 0, 0, 0};
        parts.tick = number(row, "tick");
        parts.node = number(row, "node");
        parts.clock_sequence = number(row, "clock_sequence");
        parts.sequence = number(row, "sequence");
        EXPECT(FLAKEID_OK, flakeid_unix_ms_at(text(row, "layout"), parts.tick, &parts.unix_ms));
        CHECK(flakeid_pack(text(row, "layout"), &parts, &output) == status_of(text(row, "code")),
              shown(row));
        check_field(row);
    }
    json_array_foreach(rows(file, "rejected_splits"), index, row) {
        CHECK(flakeid_join_node(text(row, "layout"), number(row, "datacenter"),
                                number(row, "worker"), &output) == status_of(text(row, "code")),
              shown(row));
        check_field(row);
    }
    json_array_foreach(rows(file, "rejected_ids"), index, row) {
        flakeid_parts parts;
        CHECK(flakeid_decode(text(row, "layout"), number(row, "id"), &parts) ==
                  status_of(text(row, "code")),
              shown(row));
    }
    CHECK(output == 42, "an output was written by a call that failed");
}

static void check_bounds(const json_t *file) {
    size_t index;
    const json_t *row;
    json_array_foreach(rows(file, "bounds"), index, row) {
        uint64_t id = 0;
        EXPECT(FLAKEID_OK, flakeid_lower_bound(text(row, "layout"), instant(row, "unix_ms"), &id));
        CHECK(id == number(row, "lower"), shown(row));
        EXPECT(FLAKEID_OK, flakeid_upper_bound(text(row, "layout"), instant(row, "unix_ms"), &id));
        CHECK(id == number(row, "upper"), shown(row));
    }
}

void test_layouts(void) {
    json_t *file = load("layouts");
    check_presets(file);
    check_descriptors(json_object_get(file, "descriptors"));
    check_ids(file);
    check_rejected(file);
    check_bounds(file);
    json_decref(file);
}
