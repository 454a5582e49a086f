/* What extension.c and border.rs know of each other. */
#ifndef FLAKEID_EXTENSION_H
#define FLAKEID_EXTENSION_H

#include <stdint.h>

/* A value of SQL: its type is SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL. */
typedef struct flakeid_value {
    int type;
    /* Of an integer. */
    int64_t integer;
    /* Of a text, in UTF-8 without a NUL at its end; and its bytes. */
    const char *text;
    int length;
} flakeid_value;

/* A function of SQL on one connection. */
typedef struct flakeid_function flakeid_function;

/* Takes the address of a database's file. */
typedef void flakeid_file_visitor(void *files, const char *path);

/* In border.rs. A call gives 0, or 1 if the result is the text of an error. Texts that it returns are given
 * back with flakeid_sqlite_free_text. */
int flakeid_sqlite_call(const flakeid_function *function, void *database, const flakeid_value *arguments,
                        int count, flakeid_value *result);
int flakeid_sqlite_fill(const flakeid_function *function, int64_t *ids, int count, int *filled,
                        flakeid_value *error);
void flakeid_sqlite_free_text(const char *text, int length);
void flakeid_sqlite_drop(flakeid_function *function);

/* In extension.c. Those that return int give SQLite's result code. */
void flakeid_sqlite_begin(const void *api);
int flakeid_sqlite_add(void *database, const char *name, int arguments, int flags, flakeid_function *function);
int flakeid_sqlite_add_table(void *database, const char *name, flakeid_function *function);
int flakeid_sqlite_files(void *database, void *files, flakeid_file_visitor *visit);
int flakeid_sqlite_fail(char **message, const char *text);

#endif
