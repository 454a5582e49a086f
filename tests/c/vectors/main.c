#include "vectors.h"

#include <errno.h>

#include "../check.h"

static const char *folder;
static json_t *error_table;

json_t *load(const char *name) {
    char path[4096];
    json_error_t error;
    json_t *file;
    CHECK(snprintf(path, sizeof path, "%s/%s.json", folder, name) < (int)sizeof path, name);
    file = json_load_file(path, JSON_ALLOW_NUL, &error);
    CHECK(file != NULL, path);
    return file;
}

const json_t *rows(const json_t *value, const char *key) {
    const json_t *list = json_object_get(value, key);
    CHECK(json_is_array(list) && json_array_size(list) > 0, key);
    return list;
}

const char *text(const json_t *row, const char *key) {
    const char *string = json_string_value(json_object_get(row, key));
    CHECK(string != NULL, key);
    return string;
}

uint64_t number(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    const char *digits = json_string_value(value);
    char *end = NULL;
    unsigned long long parsed;
    if (json_is_integer(value)) {
        return (uint64_t)json_integer_value(value);
    }
    CHECK(digits != NULL && digits[0] != '-', key);
    errno = 0;
    parsed = strtoull(digits, &end, 10);
    CHECK(errno == 0 && end != digits && *end == '\0', digits);
    return parsed;
}

int64_t instant(const json_t *row, const char *key) {
    const char *digits = text(row, key);
    char *end = NULL;
    long long parsed;
    errno = 0;
    parsed = strtoll(digits, &end, 10);
    CHECK(errno == 0 && end != digits && *end == '\0', digits);
    return parsed;
}

int is_given(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return value != NULL && !json_is_null(value);
}

const char *shown(const json_t *row) {
    static char line[2048];
    size_t length = json_dumpb(row, line, sizeof line - 1, JSON_COMPACT | JSON_ENCODE_ANY);
    line[length < sizeof line ? length : sizeof line - 1] = '\0';
    return line;
}

int32_t status_of(const char *code) {
    size_t index;
    const json_t *row;
    json_array_foreach(rows(error_table, "errors"), index, row) {
        if (strcmp(text(row, "code"), code) == 0) {
            return (int32_t)json_integer_value(json_object_get(row, "c"));
        }
    }
    CHECK(0, code);
    return -1;
}

static void check_row(const json_t *row) {
    const json_t *c = json_object_get(row, "c");
    flakeid_status status = (flakeid_status)json_integer_value(c);
    CHECK(json_is_integer(c) && status != FLAKEID_OK, shown(row));
    CHECK(strcmp(flakeid_status_code(status), text(row, "code")) == 0, shown(row));
    CHECK(strcmp(flakeid_status_message(status), flakeid_status_message(-1)) != 0, shown(row));
}

void test_errors(void) {
    size_t index, known = 0;
    int32_t status;
    const json_t *row;
    json_array_foreach(rows(error_table, "errors"), index, row) {
        check_row(row);
    }
    json_array_foreach(rows(error_table, "c_only"), index, row) {
        check_row(row);
    }
    for (status = -1000; status < 1000; status++) {
        known += strcmp(flakeid_status_code(status), "FLAKEID_UNKNOWN_STATUS") != 0;
    }
    CHECK(known == 1 + json_array_size(rows(error_table, "errors")) +
                       json_array_size(rows(error_table, "c_only")),
          "the table lacks some statuses");
    CHECK(strcmp(flakeid_status_code(FLAKEID_OK), "FLAKEID_OK") == 0, "success");
}

int main(int count, char **arguments) {
    CHECK(count == 2, "usage: vectors FOLDER");
    folder = arguments[1];
    error_table = load("errors");
    test_errors();
    test_text();
    test_uuid();
    test_keyed();
    test_layouts();
    test_schedules();
    json_decref(error_table);
    puts("vectors: passed");
    return 0;
}
