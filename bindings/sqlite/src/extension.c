/* Calls between SQLite and border.rs in both directions. This file contains no rules about IDs. */
#include "extension.h"

#include <stddef.h>
#include <string.h>

#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1

/* The number of IDs that the table-valued function takes from the generator at a time. */
#define CHUNK 1024

/* The largest number of arguments of a call. */
#define MOST_ARGUMENTS 64

void flakeid_sqlite_begin(const void *api) { SQLITE_EXTENSION_INIT2((const sqlite3_api_routines *)api) }

int flakeid_sqlite_fail(char **message, const char *text) {
    if (message != NULL) {
        *message = sqlite3_mprintf("%s", text);
    }
    return SQLITE_ERROR;
}

static void take(sqlite3_value *value, flakeid_value *taken) {
    memset(taken, 0, sizeof *taken);
    taken->type = sqlite3_value_type(value);
    if (taken->type == SQLITE_INTEGER) {
        taken->integer = sqlite3_value_int64(value);
    } else if (taken->type == SQLITE_TEXT) {
        taken->text = (const char *)sqlite3_value_text(value);
        taken->length = sqlite3_value_bytes(value);
    } else if (taken->type == SQLITE_BLOB) {
        taken->text = (const char *)sqlite3_value_blob(value);
        taken->length = sqlite3_value_bytes(value);
    }
}

static void call(sqlite3_context *context, int count, sqlite3_value **values) {
    const flakeid_function *function = sqlite3_user_data(context);
    flakeid_value arguments[MOST_ARGUMENTS], result;
    if (count > MOST_ARGUMENTS) {
        sqlite3_result_error(context, "FLAKEID_INVALID_OPTION: the call has more than 64 arguments", -1);
        return;
    }
    for (int i = 0; i < count; i++) {
        take(values[i], &arguments[i]);
    }
    memset(&result, 0, sizeof result);
    result.type = SQLITE_NULL;
    int failed = flakeid_sqlite_call(function, sqlite3_context_db_handle(context), arguments, count, &result);
    if (failed) {
        sqlite3_result_error(context, result.text, result.length);
    } else if (result.type == SQLITE_INTEGER) {
        sqlite3_result_int64(context, result.integer);
    } else if (result.type == SQLITE_TEXT) {
        sqlite3_result_text(context, result.text, result.length, SQLITE_TRANSIENT);
    } else if (result.type == SQLITE_BLOB) {
        sqlite3_result_blob(context, result.text, result.length, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_null(context);
    }
    flakeid_sqlite_free_text(result.text, result.length);
}

static void drop(void *function) { flakeid_sqlite_drop(function); }

int flakeid_sqlite_add(void *database, const char *name, int arguments, int flags, flakeid_function *function) {
    return sqlite3_create_function_v2(database, name, arguments, SQLITE_UTF8 | flags, function, call, NULL,
                                      NULL, drop);
}

/* Visits the files of the main database, the temporary database and all attached databases. */
int flakeid_sqlite_files(void *database, void *files, flakeid_file_visitor *visit) {
    sqlite3_stmt *list;
    int code = sqlite3_prepare_v2(database, "PRAGMA database_list", -1, &list, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    while ((code = sqlite3_step(list)) == SQLITE_ROW) {
        const char *path = (const char *)sqlite3_column_text(list, 2);
        if (path != NULL && *path != '\0') {
            visit(files, path);
        }
    }
    sqlite3_finalize(list);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The table-valued function is a virtual table with a hidden column, which is its argument. */

typedef struct {
    sqlite3_vtab base;
    const flakeid_function *function;
} Table;

typedef struct {
    sqlite3_vtab_cursor base;
    /* The number of IDs that are still to be taken from the generator. */
    sqlite3_int64 wanted;
    sqlite3_int64 row;
    int at, filled;
    int64_t ids[CHUNK];
} Cursor;

static int table_connect(sqlite3 *database, void *function, int argc, const char *const *argv,
                         sqlite3_vtab **made, char **message) {
    (void)argc, (void)argv, (void)message;
    int code = sqlite3_declare_vtab(database, "CREATE TABLE ids (id INTEGER, count HIDDEN)");
    if (code != SQLITE_OK) {
        return code;
    }
    Table *table = sqlite3_malloc(sizeof *table);
    if (table == NULL) {
        return SQLITE_NOMEM;
    }
    memset(table, 0, sizeof *table);
    table->function = function;
    *made = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int complain(sqlite3_vtab *table, const char *text, int length) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%.*s", length, text);
    return SQLITE_ERROR;
}

static int table_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != 1 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) {
            continue;
        }
        if (!info->aConstraint[i].usable) {
            return SQLITE_CONSTRAINT;
        }
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1000;
        info->estimatedRows = 1000;
        return SQLITE_OK;
    }
    const char *text = "FLAKEID_INVALID_OPTION: count: missing: write flakeid_next_n(1000)";
    return complain(table, text, (int)strlen(text));
}

static int table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **opened) {
    (void)table;
    Cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    memset(cursor, 0, sizeof *cursor);
    *opened = &cursor->base;
    return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* If no IDs are left, takes as many as the buffer has room for. */
static int refill(Cursor *cursor) {
    if (cursor->at < cursor->filled || cursor->wanted == 0) {
        return SQLITE_OK;
    }
    sqlite3_vtab *table = cursor->base.pVtab;
    int count = cursor->wanted < CHUNK ? (int)cursor->wanted : CHUNK;
    flakeid_value error;
    memset(&error, 0, sizeof error);
    cursor->at = cursor->filled = 0;
    if (flakeid_sqlite_fill(((Table *)table)->function, cursor->ids, count, &cursor->filled, &error)) {
        int code = complain(table, error.text, error.length);
        flakeid_sqlite_free_text(error.text, error.length);
        return code;
    }
    cursor->wanted -= cursor->filled;
    return SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
                        sqlite3_value **argv) {
    (void)index, (void)name;
    Cursor *cursor = (Cursor *)base;
    sqlite3_int64 count = argc == 1 ? sqlite3_value_int64(argv[0]) : -1;
    if (argc != 1 || sqlite3_value_type(argv[0]) != SQLITE_INTEGER || count < 0) {
        const char *text =
            "FLAKEID_INVALID_OPTION: count: must be an integer from 0 on, as in flakeid_next_n(1000)";
        return complain(base->pVtab, text, (int)strlen(text));
    }
    cursor->wanted = count;
    cursor->row = 0;
    cursor->at = cursor->filled = 0;
    return refill(cursor);
}

static int table_next(sqlite3_vtab_cursor *base) {
    Cursor *cursor = (Cursor *)base;
    cursor->at++;
    cursor->row++;
    return refill(cursor);
}

static int table_eof(sqlite3_vtab_cursor *base) {
    const Cursor *cursor = (const Cursor *)base;
    return cursor->at >= cursor->filled;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const Cursor *cursor = (const Cursor *)base;
    if (column == 0) {
        sqlite3_result_int64(context, cursor->ids[cursor->at]);
    } else {
        sqlite3_result_null(context);
    }
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row) {
    *row = ((const Cursor *)base)->row;
    return SQLITE_OK;
}

/*
 * Without xCreate, the table exists on every connection, and CREATE VIRTUAL TABLE cannot create it under
 * another name.
 */
static const sqlite3_module next_n = {
    .xConnect = table_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};

int flakeid_sqlite_add_table(void *database, const char *name, flakeid_function *function) {
    return sqlite3_create_module_v2(database, name, &next_n, function, drop);
}
