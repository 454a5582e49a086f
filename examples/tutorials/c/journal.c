#include "journal.h"

#include <inttypes.h>

flakeid_status journal_open_generator(const char *store, flakeid_generator **generator) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    config.namespace_name = "events";
    return flakeid_generator_open(store, &config, generator);
}

FILE *journal_open(const char *path) {
    FILE *journal = fopen(path, "a+");
    if (journal) {
        /* Each line is one write, so that lines of different processes do not mix. */
        setvbuf(journal, NULL, _IOLBF, BUFSIZ);
    }
    return journal;
}

flakeid_status journal_append(FILE *journal, const flakeid_generator *generator, const char *description,
                              uint64_t *id) {
    flakeid_status status = flakeid_generator_next(generator, id);
    if (status == FLAKEID_OK) {
        fprintf(journal, "%" PRIu64 "\t%s\n", *id, description);
    }
    return status;
}

flakeid_status journal_print_since(FILE *journal, int64_t unix_ms, FILE *output) {
    char description[1024];
    uint64_t id, first;
    /* The layout NULL is the default layout, which the namespace uses. */
    flakeid_status status = flakeid_lower_bound(NULL, unix_ms, &first);
    rewind(journal);
    while (status == FLAKEID_OK && fscanf(journal, "%" SCNu64 "\t%1023[^\n]\n", &id, description) == 2) {
        if (id >= first) {
            flakeid_parts parts;
            status = flakeid_decode(NULL, id, &parts);
            if (status == FLAKEID_OK) {
                fprintf(output, "%" PRIi64 " ms\t%" PRIu64 "\t%s\n", parts.unix_ms, id, description);
            }
        }
    }
    return status;
}
