/* Four processes append to one journal. All IDs are distinct, and a time selects events. */
#include "journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 4
#define EVENTS 1000

static void check(int holds, const char *claim) {
    if (!holds) {
        fprintf(stderr, "failed: %s (%s)\n", claim, flakeid_last_error());
        exit(1);
    }
}

/* Appends events in a forked child. The generator of the parent leases another node there. */
static void append_events(FILE *journal, const flakeid_generator *generator) {
    uint64_t id, previous = 0;
    for (int count = 0; count < EVENTS; count++) {
        check(journal_append(journal, generator, "a test", &id) == FLAKEID_OK, "an event is appended");
        check(id > previous, "the IDs of a process increase");
        previous = id;
    }
    check(fclose(journal) == 0, "the journal is written");
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int main(void) {
    static uint64_t ids[PROCESSES * EVENTS];
    char folder[] = "/tmp/events-XXXXXX", path[64], store[64], line[128];
    size_t count = 0;
    uint64_t id;
    int status;
    flakeid_generator *generator = NULL;
    check(mkdtemp(folder) != NULL, "there is a folder for the test");
    snprintf(path, sizeof path, "%s/journal", folder);
    snprintf(store, sizeof store, "sqlite://%s/flakeid.db", folder);
    check(journal_open_generator(store, &generator) == FLAKEID_OK, "the store grants a node");
    for (int process = 0; process < PROCESSES; process++) {
        pid_t child = fork();
        check(child >= 0, "a process starts");
        if (child == 0) {
            append_events(journal_open(path), generator);
            flakeid_generator_free(generator);
            exit(0);
        }
    }
    while (wait(&status) > 0) {
        check(status == 0, "each process succeeds");
    }

    FILE *journal = journal_open(path);
    while (fscanf(journal, "%" SCNu64 "%127[^\n]", &id, line) == 2) {
        check(count < PROCESSES * EVENTS, "there is one line for each event");
        ids[count++] = id;
    }
    check(count == PROCESSES * EVENTS, "there is one line for each event");
    qsort(ids, count, sizeof *ids, compare);
    for (size_t index = 1; index < count; index++) {
        check(ids[index - 1] < ids[index], "all IDs are distinct");
    }

    flakeid_parts last;
    check(flakeid_decode(NULL, ids[count - 1], &last) == FLAKEID_OK, "an ID is decoded");
    FILE *output = tmpfile();
    check(journal_print_since(journal, last.unix_ms, output) == FLAKEID_OK, "events are selected");
    rewind(output);
    while (fgets(line, sizeof line, output)) {
        check(strtoll(line, NULL, 10) == last.unix_ms, "only events since the time are selected");
        count--;
    }
    check(count < PROCESSES * EVENTS, "the last event is selected");
    flakeid_generator_free(generator);
    fclose(journal);
    fclose(output);
    puts("all IDs are distinct");
    return 0;
}
