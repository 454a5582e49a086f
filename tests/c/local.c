/* local IDS: tests local handles: IDS IDs from several threads, and handles that outlive their generator. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <time.h>

#include "store.h"

enum { THREADS = 4 };

static flakeid_generator *of_node(uint64_t node) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    config.has = FLAKEID_HAS_NODE | FLAKEID_HAS_MAX_WAIT;
    config.node = node;
    config.max_wait_ms = 60000;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    return generator;
}

static flakeid_local *local_of(const flakeid_generator *generator) {
    flakeid_local *local = NULL;
    EXPECT(FLAKEID_OK, flakeid_local_open(generator, &local));
    return local;
}

static int64_t now(void) {
    struct timespec time;
    CHECK(clock_gettime(CLOCK_REALTIME, &time) == 0, "the time");
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct share {
    pthread_t thread;
    flakeid_local *local;
    uint64_t *ids;
    size_t n;
};

static void *work(void *argument) {
    struct share *share = argument;
    size_t index;
    for (index = 0; index < share->n; index++) {
        EXPECT(FLAKEID_OK, flakeid_local_next(share->local, share->ids + index));
        CHECK(index == 0 || share->ids[index - 1] < share->ids[index], "the handle's order");
    }
    flakeid_local_free(share->local);
    return NULL;
}

static int compare(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Takes IDs from one handle in each thread, and from the generator at the same time. */
static void threads(flakeid_generator *generator, size_t n) {
    const size_t all = (THREADS + 1) * n;
    uint64_t *ids = malloc(all * sizeof *ids);
    struct share shares[THREADS];
    size_t index;
    CHECK(ids != NULL, "memory");
    for (index = 0; index < THREADS; index++) {
        shares[index].local = local_of(generator);
        shares[index].ids = ids + index * n;
        shares[index].n = n;
        CHECK(pthread_create(&shares[index].thread, NULL, work, &shares[index]) == 0, "a thread");
    }
    for (index = THREADS * n; index < all; index++) {
        EXPECT(FLAKEID_OK, flakeid_generator_next(generator, ids + index));
    }
    for (index = 0; index < THREADS; index++) {
        CHECK(pthread_join(shares[index].thread, NULL) == 0, "a thread");
    }
    qsort(ids, all, sizeof *ids, compare);
    for (index = 1; index < all; index++) {
        CHECK(ids[index - 1] != ids[index], "an ID was issued twice");
    }
    printf("local: %lu IDs, none twice\n", (unsigned long)all);
    free(ids);
}

static void never_ahead(void) {
    flakeid_generator *generator = of_node(2);
    flakeid_local *local = local_of(generator);
    uint64_t id = 0;
    int turn;
    for (turn = 0; turn < 1000; turn++) {
        flakeid_parts parts;
        EXPECT(FLAKEID_OK, flakeid_local_next(local, &id));
        EXPECT(FLAKEID_OK, flakeid_decode(NULL, id, &parts));
        CHECK(parts.unix_ms <= now() && parts.node == 2, "the parts");
    }
    flakeid_local_free(local);
    flakeid_generator_free(generator);
}

/* Checks that the handle of a fixed generator outlives it and never repeats the IDs of another generator. */
static void without_its_generator(void) {
    flakeid_generator *generator = of_node(3), *again;
    flakeid_local *local = local_of(generator);
    uint64_t ids[3] = {0, 0, 0};
    EXPECT(FLAKEID_OK, flakeid_local_next(local, &ids[0]));
    flakeid_generator_free(generator);
    again = of_node(3);
    EXPECT(FLAKEID_OK, flakeid_generator_next(again, &ids[1]));
    EXPECT(FLAKEID_OK, flakeid_local_next(local, &ids[2]));
    CHECK(ids[0] < ids[1] && ids[0] < ids[2] && ids[1] != ids[2], "three IDs");
    CHECK(node_of(ids[2]) == 3, "the node");
    flakeid_generator_free(again);
    flakeid_local_free(local);
}

static void the_end(void) {
    flakeid_generator *generator = of_node(4);
    flakeid_local *local = local_of(generator);
    uint64_t id = 0, tick = 0;
    EXPECT(FLAKEID_OK, flakeid_local_next(local, &id));
    EXPECT(FLAKEID_OK, flakeid_generator_retire(generator, &tick));
    EXPECT(FLAKEID_OK, flakeid_generator_close(generator));
    id = 42;
    EXPECT(FLAKEID_CLOSED, flakeid_local_next(local, &id));
    CHECK(id == 42, "outputs");
    flakeid_local_free(local);
    flakeid_generator_free(generator);
}

static void refusals(void) {
    flakeid_generator *generator = of_node(5);
    flakeid_local *local = NULL;
    uint64_t id = 42;
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_local_open(NULL, &local));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_local_open(generator, NULL));
    CHECK(strcmp(flakeid_last_error(), "local must not be NULL") == 0, "the message");
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_local_next(NULL, &id));
    CHECK(local == NULL && id == 42, "outputs");
    local = local_of(generator);
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_local_next(local, NULL));
    flakeid_local_free(NULL);
    flakeid_local_free(local);
    flakeid_generator_free(generator);
}

static void leased(size_t n) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    flakeid_local *local;
    uint64_t id = 42;
    make_store();
    config.has = FLAKEID_HAS_MAX_WAIT;
    config.max_wait_ms = 60000;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &config, &generator));
    threads(generator, n);
    local = local_of(generator);
    EXPECT(FLAKEID_OK, flakeid_local_next(local, &id));
    flakeid_generator_free(generator);
    id = 42;
    EXPECT(FLAKEID_CLOSED, flakeid_local_next(local, &id));
    CHECK(id == 42, "outputs");
    flakeid_local_free(local);
    remove_store();
}

int main(int count, char **arguments) {
    flakeid_generator *generator;
    size_t n;
    CHECK(count == 2, "usage: local IDS");
    n = (size_t)strtoull(arguments[1], NULL, 10) / (THREADS + 1);
    CHECK(n > 0, "usage: local IDS");
    generator = of_node(1);
    threads(generator, n);
    flakeid_generator_free(generator);
    never_ahead();
    without_its_generator();
    the_end();
    refusals();
    leased(n / 10 + 1);
    return 0;
}
