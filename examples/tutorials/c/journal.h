/* A file of events: one line for each event, with an ID and a description. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <flakeid.h>
#include <stdio.h>

/* Leases a node from a store, such as "sqlite://flakeid.db". */
flakeid_status journal_open_generator(const char *store, flakeid_generator **generator);

/* Opens a file to which several processes can append at the same time, or returns NULL. */
FILE *journal_open(const char *path);

/* Appends an event, and writes its ID to `id`. The description must not contain a line break. */
flakeid_status journal_append(FILE *journal, const flakeid_generator *generator, const char *description,
                              uint64_t *id);

/* Writes the events since a time to `output`, each with the time in its ID. */
flakeid_status journal_print_since(FILE *journal, int64_t unix_ms, FILE *output);

#endif
