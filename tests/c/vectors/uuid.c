/* The vectors in uuid.json: IDs as UUIDs, as strings and as bytes. */
#include "../check.h"
#include "vectors.h"

/* Reads a string of hexadecimal digits, and returns the number of bytes. */
static size_t bytes_of(const json_t *row, uint8_t *bytes, size_t size) {
    const char *digits = text(row, "bytes");
    size_t count = strlen(digits) / 2, place;
    CHECK(count <= size, shown(row));
    for (place = 0; place < count; place++) {
        unsigned byte = 0;
        CHECK(sscanf(digits + 2 * place, "%2x", &byte) == 1, shown(row));
        bytes[place] = (uint8_t)byte;
    }
    return count;
}

static void check_valid(const json_t *row) {
    char buffer[FLAKEID_TEXT_SIZE];
    uint8_t expected[16], bytes[16];
    uint64_t id = 0;
    EXPECT(FLAKEID_OK, flakeid_to_uuid(number(row, "id"), buffer, sizeof buffer));
    CHECK(strcmp(buffer, text(row, "text")) == 0, shown(row));
    EXPECT(FLAKEID_OK, flakeid_from_uuid(buffer, &id));
    CHECK(id == number(row, "id"), shown(row));
    CHECK(bytes_of(row, expected, sizeof expected) == sizeof expected, shown(row));
    EXPECT(FLAKEID_OK, flakeid_to_uuid_bytes(id, bytes, sizeof bytes));
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0, shown(row));
    id = 0;
    EXPECT(FLAKEID_OK, flakeid_from_uuid_bytes(bytes, sizeof bytes, &id));
    CHECK(id == number(row, "id"), shown(row));
}

void test_uuid(void) {
    json_t *file = load("uuid");
    size_t index;
    const json_t *row;
    uint8_t previous[16] = {0}, bytes[32];
    uint64_t id = 42;
    json_array_foreach(rows(file, "valid"), index, row) {
        check_valid(row);
        /* The rows are in the order of the IDs, so the bytes must also increase. */
        bytes_of(row, bytes, sizeof bytes);
        CHECK(memcmp(previous, bytes, sizeof previous) < 0, shown(row));
        memcpy(previous, bytes, sizeof previous);
    }
    json_array_foreach(rows(file, "accepted"), index, row) {
        EXPECT(FLAKEID_OK, flakeid_from_uuid(text(row, "text"), &id));
        CHECK(id == number(row, "id"), shown(row));
    }
    id = 42;
    json_array_foreach(rows(file, "rejected"), index, row) {
        const char *given = text(row, "text");
        if (strlen(given) == json_string_length(json_object_get(row, "text"))) {
            CHECK(flakeid_from_uuid(given, &id) == status_of(text(row, "code")) && id == 42, shown(row));
        }
    }
    json_array_foreach(rows(file, "rejected_bytes"), index, row) {
        size_t size = bytes_of(row, bytes, sizeof bytes);
        flakeid_status status = flakeid_from_uuid_bytes(bytes, size, &id);
        CHECK(status == status_of(text(row, "code")) && id == 42, shown(row));
    }
    memset(bytes, 7, sizeof bytes);
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_to_uuid_bytes(1, bytes, 15));
    CHECK(bytes[0] == 7, "nothing is written");
    json_decref(file);
}
