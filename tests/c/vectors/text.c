#include "../check.h"
#include "vectors.h"

typedef flakeid_status (*encode)(uint64_t id, char *buffer, size_t size);
typedef flakeid_status (*decode)(const char *text, uint64_t *id);

static const struct {
    const char *name;
    encode to;
    decode from;
} forms[] = {
    {"decimal", flakeid_to_decimal, flakeid_from_decimal},
    {"base32", flakeid_to_base32, flakeid_from_base32},
    {"base36", flakeid_to_base36, flakeid_from_base36},
    {"base58", flakeid_to_base58, flakeid_from_base58},
    {"base62", flakeid_to_base62, flakeid_from_base62},
    {"hex", flakeid_to_hex, flakeid_from_hex},
    {"base58_flickr", flakeid_to_base58_flickr, flakeid_from_base58_flickr},
    {"zbase32", flakeid_to_zbase32, flakeid_from_zbase32},
};

/* Reports whether a function that reads to the first NUL receives the whole string. */
static int is_c_string(const json_t *row) {
    return strlen(text(row, "text")) == json_string_length(json_object_get(row, "text"));
}

static void check_valid(const json_t *row, encode to, decode from) {
    const char *expected = text(row, "text");
    size_t needed = strlen(expected) + 1, size;
    char buffer[FLAKEID_TEXT_SIZE];
    uint64_t id = 0;
    EXPECT(FLAKEID_OK, to(number(row, "id"), buffer, sizeof buffer));
    CHECK(strcmp(buffer, expected) == 0, shown(row));
    EXPECT(FLAKEID_OK, from(expected, &id));
    CHECK(id == number(row, "id"), shown(row));
    /* A buffer of exactly the required size is enough. A smaller one stays empty, and the call returns the required size. */
    EXPECT(FLAKEID_OK, to(id, buffer, needed));
    for (size = 0; size < needed; size++) {
        char wanted[32];
        memset(buffer, 'x', sizeof buffer);
        EXPECT(FLAKEID_BUFFER_TOO_SMALL, to(id, buffer, size));
        CHECK(buffer[0] == 'x' && buffer[size] == 'x', shown(row));
        snprintf(wanted, sizeof wanted, " must have %u (", (unsigned)needed);
        CHECK(strstr(flakeid_last_error(), wanted) != NULL, shown(row));
    }
}

void test_text(void) {
    json_t *file = load("text");
    size_t group_index, index, form;
    const json_t *group, *row;
    CHECK(json_array_size(rows(file, "forms")) == sizeof forms / sizeof forms[0], "forms");
    json_array_foreach(rows(file, "forms"), group_index, group) {
        for (form = 0; strcmp(forms[form].name, text(group, "form")) != 0;) {
            form++;
            CHECK(form < sizeof forms / sizeof forms[0], shown(group));
        }
        json_array_foreach(rows(group, "valid"), index, row) {
            check_valid(row, forms[form].to, forms[form].from);
        }
        json_array_foreach(json_object_get(group, "accepted"), index, row) {
            uint64_t id = 0;
            EXPECT(FLAKEID_OK, forms[form].from(text(row, "text"), &id));
            CHECK(id == number(row, "id"), shown(row));
        }
        json_array_foreach(rows(group, "rejected"), index, row) {
            uint64_t id = 42;
            if (is_c_string(row)) {
                flakeid_status status = forms[form].from(text(row, "text"), &id);
                CHECK(status == status_of(text(row, "code")) && id == 42, shown(row));
            }
        }
    }
    json_decref(file);
}
