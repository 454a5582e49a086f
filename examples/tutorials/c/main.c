/* Appends the lines of the standard input to a journal:      events append FILE
 * Prints the events of a journal since a time in Unix ms:    events since FILE TIME */
#include "journal.h"

#include <stdlib.h>
#include <string.h>

static flakeid_status append_lines(FILE *journal) {
    char line[1024];
    uint64_t id;
    const char *store = getenv("FLAKEID_STORE");
    flakeid_generator *generator = NULL;
    flakeid_status status = journal_open_generator(store ? store : "sqlite://flakeid.db", &generator);
    while (status == FLAKEID_OK && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        status = journal_append(journal, generator, line, &id);
    }
    flakeid_generator_free(generator); /* releases the node */
    return status;
}

int main(int count, char **arguments) {
    FILE *journal;
    flakeid_status status;
    int appends = count == 3 && strcmp(arguments[1], "append") == 0;
    if (!appends && (count != 4 || strcmp(arguments[1], "since") != 0)) {
        fprintf(stderr, "usage: events append FILE | events since FILE UNIX_MS\n");
        return 2;
    }
    journal = journal_open(arguments[2]);
    if (!journal) {
        perror(arguments[2]);
        return 1;
    }
    status = appends ? append_lines(journal)
                     : journal_print_since(journal, strtoll(arguments[3], NULL, 10), stdout);
    if (status != FLAKEID_OK) {
        fprintf(stderr, "events: %s\n", flakeid_last_error());
    }
    return fclose(journal) != 0 || status != FLAKEID_OK;
}
