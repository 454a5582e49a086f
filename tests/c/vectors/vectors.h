/* Reads the shared vectors, tests/vectors, with jansson. */
#ifndef VECTORS_H
#define VECTORS_H

#include <jansson.h>
#include <stdint.h>

/* Loads one of the files from the folder that main() received. */
json_t *load(const char *name);

/* Returns a list that must not be empty, because a loop over nothing proves nothing. */
const json_t *rows(const json_t *value, const char *key);

/* Return a string, a number given as digits or as a JSON number, or whether the field exists. */
const char *text(const json_t *row, const char *key);
uint64_t number(const json_t *row, const char *key);
int64_t instant(const json_t *row, const char *key);
int is_given(const json_t *row, const char *key);

/* Returns the row as JSON for messages, valid until the next call. */
const char *shown(const json_t *row);

/* Returns the status of a code's name. */
int32_t status_of(const char *code);

void test_errors(void);
void test_keyed(void);
void test_layouts(void);
void test_schedules(void);
void test_text(void);
void test_uuid(void);

#endif
