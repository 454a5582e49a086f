/* The functions and types that extension.c and border.rs share. */
#ifndef FLAKEID_EXTENSION_H
#define FLAKEID_EXTENSION_H

#include <stdint.h>

/* An SQL value, whose type is SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL. */
typedef struct flakeid_value {
    int type;
    /* The value of an integer. */
    int64_t integer;
    /* The content of a string, in UTF-8 without a final NUL, or of a blob. `length` is its number of bytes. */
    const char *text;
    int length;
} flakeid_value;

/* An SQL function on one connection. */
typedef struct flakeid_function flakeid_function;

/* A callback that receives the path of a database's file. */
typedef void flakeid_file_visitor(void *files, const char *path);

/* The functions of border.rs. A call returns 0, or 1 if the result is an error message.
 * flakeid_sqlite_free_text frees the strings that a call returns. */
int flakeid_sqlite_call(const flakeid_function *function, void *database, const flakeid_value *arguments,
                        int count, flakeid_value *result);
int flakeid_sqlite_fill(const flakeid_function *function, int64_t *ids, int count, int *filled,
                        flakeid_value *error);
void flakeid_sqlite_free_text(const char *text, int length);
void flakeid_sqlite_drop(flakeid_function *function);

/* The functions of extension.c. Those that return int return SQLite's result code. */
void flakeid_sqlite_begin(const void *api);
int flakeid_sqlite_add(void *database, const char *name, int arguments, int flags, flakeid_function *function);
int flakeid_sqlite_add_table(void *database, const char *name, flakeid_function *function);
int flakeid_sqlite_files(void *database, void *files, flakeid_file_visitor *visit);
int flakeid_sqlite_fail(char **message, const char *text);

#endif
