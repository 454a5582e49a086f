/* Prints five IDs of a leased node. No two copies of this program print the same ID. */
#include <flakeid.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The library calls this function on the lease's own thread. */
static void log_event(const flakeid_lease_event *event, void *user_data) {
    (void)user_data;
    fprintf(stderr, "event %d, node %" PRIu64 " %s\n", (int)event->kind, event->node,
            event->message ? event->message : "");
}

int main(void) {
    const char *url = getenv("FLAKEID_STORE");
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    uint64_t id;
    int count, failed;
    config.namespace_name = "orders";
    config.on_event = log_event;
    failed = flakeid_generator_open(url ? url : "sqlite://flakeid.db", &config, &generator);
    for (count = 0; count < 5 && !failed; count++) {
        failed = flakeid_generator_next(generator, &id);
        if (!failed) {
            printf("%" PRIu64 "\n", id);
        }
    }
    if (failed) {
        fprintf(stderr, "%s\n", flakeid_last_error());
    }
    flakeid_generator_free(generator); /* releases the node */
    return failed != 0;
}
