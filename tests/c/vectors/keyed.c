#include "../check.h"
#include "vectors.h"

static flakeid_status make(const json_t *row, const char *layout, const int64_t *since_ms,
                           flakeid_public_ids **ids) {
    const char *prefix = is_given(row, "prefix") ? text(row, "prefix") : NULL;
    return flakeid_public_ids_new(text(row, "keyring"), text(row, "domain"), layout, prefix,
                                  since_ms, ids);
}

static void check_public_id(const json_t *row) {
    flakeid_public_ids *ids = NULL;
    char buffer[FLAKEID_PUBLIC_ID_SIZE];
    const char *expected = text(row, "text");
    const size_t needed = strlen(expected) + 1;
    uint64_t id = 0, bits = 0;
    EXPECT(FLAKEID_OK, make(row, text(row, "layout"), NULL, &ids));
    EXPECT(FLAKEID_OK, flakeid_public_ids_seal(ids, number(row, "id"), buffer, needed));
    CHECK(strcmp(buffer, expected) == 0, shown(row));
    EXPECT(FLAKEID_OK, flakeid_public_ids_seal_bits(ids, number(row, "id"), &bits));
    CHECK(bits == number(row, "bits"), shown(row));
    EXPECT(FLAKEID_OK, flakeid_public_ids_open_at(ids, expected, INT64_MAX, &id));
    CHECK(id == number(row, "id"), shown(row));
    buffer[0] = 'x';
    EXPECT(FLAKEID_BUFFER_TOO_SMALL, flakeid_public_ids_seal(ids, id, buffer, needed - 1));
    CHECK(buffer[0] == 'x', shown(row));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_public_ids_seal(ids, id, NULL, needed));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_public_ids_open(ids, NULL, &id));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_public_ids_open(NULL, expected, &id));
    flakeid_public_ids_free(ids);
}

static flakeid_status open_at(const json_t *domain, const json_t *row, uint64_t *id) {
    flakeid_public_ids *ids = NULL;
    const int64_t since_ms = is_given(row, "since_ms") ? instant(row, "since_ms") : 0;
    flakeid_status status;
    EXPECT(FLAKEID_OK, make(domain, text(domain, "layout"),
                            is_given(row, "since_ms") ? &since_ms : NULL, &ids));
    status = flakeid_public_ids_open_at(ids, text(row, "text"), instant(row, "now_ms"), id);
    flakeid_public_ids_free(ids);
    return status;
}

/* Opens by the system's clock. */
static void check_now(void) {
    flakeid_public_ids *ids = NULL;
    char sealed[FLAKEID_PUBLIC_ID_SIZE];
    uint64_t late = 0, id = 0;
    EXPECT(FLAKEID_OK, flakeid_public_ids_new("a 000102030405060708090a0b0c0d0e0f", "user", NULL,
                                              NULL, NULL, &ids));
    EXPECT(FLAKEID_OK, flakeid_public_ids_seal(ids, 910499571847892992u, sealed, sizeof sealed));
    EXPECT(FLAKEID_OK, flakeid_public_ids_open(ids, sealed, &id));
    CHECK(id == 910499571847892992u, sealed);
    EXPECT(FLAKEID_OK, flakeid_lower_bound(NULL, INT64_C(3400000000000), &late));
    EXPECT(FLAKEID_OK, flakeid_public_ids_seal(ids, late, sealed, sizeof sealed));
    EXPECT(FLAKEID_INVALID_ID, flakeid_public_ids_open(ids, sealed, &id));
    flakeid_public_ids_free(ids);
    flakeid_public_ids_free(NULL);
}

void test_keyed(void) {
    json_t *file = load("keyed");
    const json_t *domain = json_object_get(file, "one_domain"), *row;
    size_t index;
    json_array_foreach(rows(file, "public_ids"), index, row) {
        check_public_id(row);
    }
    json_array_foreach(rows(file, "opened"), index, row) {
        uint64_t id = 0;
        EXPECT(FLAKEID_OK, open_at(domain, row, &id));
        CHECK(id == number(row, "id"), shown(row));
    }
    json_array_foreach(rows(file, "rejected"), index, row) {
        uint64_t id = 42;
        CHECK(open_at(domain, row, &id) == status_of(text(row, "code")) && id == 42, shown(row));
    }
    json_array_foreach(rows(file, "invalid"), index, row) {
        flakeid_public_ids *ids = NULL;
        CHECK(make(row, NULL, NULL, &ids) == status_of(text(row, "code")), shown(row));
        CHECK(ids == NULL, shown(row));
        CHECK(strncmp(flakeid_last_error(), text(row, "option"), strlen(text(row, "option"))) == 0,
              shown(row));
    }
    check_now();
    json_decref(file);
}
