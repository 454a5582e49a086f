/* threads IDS: takes IDS IDs with several threads from one generator, half of them one by one. None is repeated, and
 * each thread's are in order. Also tests that each thread has its own last error. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>

#include "check.h"

enum { THREADS = 4, RUN = 1000 };

static flakeid_generator *generator;

struct share {
    pthread_t thread;
    uint64_t *ids;
    size_t n;
};

static void *work(void *argument) {
    struct share *share = argument;
    size_t done = 0, count, index;
    while (done < share->n) {
        size_t wanted = share->n - done < RUN ? share->n - done : RUN;
        EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, share->ids + done, wanted, &count));
        done += count;
        for (index = 0; index < RUN && done < share->n; index++) {
            EXPECT(FLAKEID_OK, flakeid_generator_next(generator, share->ids + done++));
        }
    }
    for (index = 1; index < share->n; index++) {
        CHECK(share->ids[index - 1] < share->ids[index], "the order within a thread");
    }
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_generator_next(generator, NULL));
    CHECK(strstr(flakeid_last_error(), "id must not") != NULL, "this thread's last error");
    return NULL;
}

static int compare(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    size_t n, index;
    uint64_t *ids;
    struct share shares[THREADS];
    flakeid_config config = FLAKEID_CONFIG_INIT;
    CHECK(count == 2, "usage: threads IDS");
    n = (size_t)strtoull(arguments[1], NULL, 10) / THREADS;
    CHECK(n > 0, "usage: threads IDS");
    ids = malloc(THREADS * n * sizeof *ids);
    CHECK(ids != NULL, "memory");
    config.has = FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER | FLAKEID_HAS_MAX_WAIT;
    config.datacenter = 17;
    config.worker = 25;
    config.max_wait_ms = 60000;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    for (index = 0; index < THREADS; index++) {
        shares[index].ids = ids + index * n;
        shares[index].n = n;
        CHECK(pthread_create(&shares[index].thread, NULL, work, &shares[index]) == 0, "a thread");
    }
    for (index = 0; index < THREADS; index++) {
        CHECK(pthread_join(shares[index].thread, NULL) == 0, "a thread");
    }
    CHECK(strcmp(flakeid_last_error(), "") == 0, "errors of other threads do not appear in this thread");
    qsort(ids, THREADS * n, sizeof *ids, compare);
    for (index = 1; index < THREADS * n; index++) {
        CHECK(ids[index - 1] != ids[index], "an ID was issued twice");
    }
    free(ids);
    flakeid_generator_free(generator);
    printf("threads: %lu IDs, none twice\n", (unsigned long)(THREADS * n));
    return 0;
}
