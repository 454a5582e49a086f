/* The shared vectors, tests/vectors, read with jansson. */
#ifndef VECTORS_H
#define VECTORS_H

#include <jansson.h>
#include <stdint.h>

/* One of the files; main() is told the folder. */
json_t *load(const char *name);

/* A list, which must not be empty: a loop over nothing proves nothing. */
const json_t *rows(const json_t *value, const char *key);

/* A string, a number told as digits (also told as a JSON number), or whether it is there. */
const char *text(const json_t *row, const char *key);
uint64_t number(const json_t *row, const char *key);
int64_t instant(const json_t *row, const char *key);
int is_given(const json_t *row, const char *key);

/* For messages: the row as JSON, valid until the next call. */
const char *shown(const json_t *row);

/* The status that a code stands for. */
int32_t status_of(const char *code);

void test_errors(void);
void test_keyed(void);
void test_layouts(void);
void test_schedules(void);
void test_text(void);

#endif
