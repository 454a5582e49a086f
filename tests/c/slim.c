/*
 * Tests that the slim library issues IDs of fixed nodes and of nodes leased from SQLite, and that it
 * refuses each store on a server. Also tests that the unwind tables are complete, because a panic in
 * Rust unwinds with them.
 */
#define _GNU_SOURCE

#include <unwind.h>

#include "store.h"

static int reached_main;

int main(void);

static void refuse(const char *url, const char *reason) {
    flakeid_generator *generator = NULL;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_open(url, NULL, &generator));
    CHECK(generator == NULL, url);
    CHECK(strstr(flakeid_last_error(), reason) != NULL, reason);
    CHECK(strstr(flakeid_last_error(), "secret") == NULL, "the message must not contain the password");
}

static void missing_stores(void) {
    refuse("postgresql://app:secret@db/app", "this build of flakeid does not include postgresql://");
    refuse("mysql://app:secret@db/app", "Cargo feature `mysql`");
    refuse("redis://:secret@db", "the full C library `flakeid` instead of `flakeid-slim`");
    refuse("etcd://app:secret@db", "or lease from a broker");
}

/* Checks that the library contains the client of brokers: port 9 has no server. */
static void unreachable_broker(void) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    config.has = FLAKEID_HAS_MAX_WAIT;
    config.max_wait_ms = 100;
    EXPECT(FLAKEID_STORE_UNAVAILABLE, flakeid_generator_open("http://127.0.0.1:9", &config, &generator));
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *last) {
    (void)last;
    if (_Unwind_GetRegionStart(context) == (uintptr_t)main) {
        reached_main = 1;
    }
    return _URC_NO_REASON;
}

static void on_take(flakeid_status status, void *user_data) {
    (void)status;
    (void)user_data;
    _Unwind_Backtrace(visit, NULL);
}

/* Takes IDs from a ring on a stopped clock until the library calls the handler. */
static int rejected(flakeid_generator *generator) {
    flakeid_ring_config options = FLAKEID_RING_CONFIG_INIT;
    flakeid_cached *ring = NULL;
    flakeid_status status = FLAKEID_OK;
    uint64_t id;
    options.on_rejected_take = on_take;
    EXPECT(FLAKEID_OK, flakeid_cached_open(generator, &options, &ring));
    while (status == FLAKEID_OK) {
        status = flakeid_cached_take(ring, &id);
    }
    flakeid_cached_free(ring);
    return status;
}

int main(void) {
    flakeid_manual_clock *clock = NULL;
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    uint64_t ids[1000];
    size_t count = 0;
    missing_stores();
    unreachable_broker();
    config.has = FLAKEID_HAS_NODE;
    config.node = 7;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids, 1000, &count));
    CHECK(count == 1000 && ids[0] < ids[999] && node_of(ids[0]) == 7, "the IDs of a fixed node");
    flakeid_generator_free(generator);
    generator = NULL;
    EXPECT(FLAKEID_OK, flakeid_manual_clock_new(1700000000000, &clock));
    config.clock = clock;
    config.node = 8;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    EXPECT(FLAKEID_RING_EMPTY, rejected(generator));
    CHECK(reached_main, "the stack through the library");
    flakeid_generator_free(generator);
    flakeid_manual_clock_free(clock);
    generator = NULL;
    make_store();
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, NULL, &generator));
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids, 1000, &count));
    CHECK(count == 1000 && ids[0] < ids[999], "the IDs of a leased node");
    flakeid_generator_free(generator);
    remove_store();
    return 0;
}
