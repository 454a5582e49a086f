/* Tests local handles and rings in a forked child. On a fixed node they return errors. On a leased node they continue
 * with a new node of the child and issue nothing that the parent had prepared. */
#define _XOPEN_SOURCE 700

#include <sys/types.h>
#include <sys/wait.h>

#include "store.h"

enum { COUNT = 1000 };

/* A generator with a local handle and a ring that both hold IDs. */
struct set {
    flakeid_generator *generator;
    flakeid_local *local;
    flakeid_cached *ring;
};

static struct set set_of(flakeid_generator *generator) {
    struct set set = {generator, NULL, NULL};
    uint64_t id;
    EXPECT(FLAKEID_OK, flakeid_local_open(generator, &set.local));
    EXPECT(FLAKEID_OK, flakeid_cached_open(generator, NULL, &set.ring));
    EXPECT(FLAKEID_OK, flakeid_local_next(set.local, &id));
    EXPECT(FLAKEID_OK, flakeid_cached_take(set.ring, &id));
    return set;
}

static void free_set(struct set set) {
    flakeid_cached_free(set.ring);
    flakeid_local_free(set.local);
    flakeid_generator_free(set.generator);
}

/* Takes IDs from both in turn. */
static void make(struct set set, uint64_t *ids) {
    size_t at;
    for (at = 0; at < COUNT; at += 2) {
        EXPECT(FLAKEID_OK, flakeid_local_next(set.local, ids + at));
        EXPECT(FLAKEID_OK, flakeid_cached_next(set.ring, ids + at + 1));
        CHECK(at == 0 || (ids[at - 2] < ids[at] && ids[at - 1] < ids[at + 1]), "the orders");
    }
}

static void refused(struct set set) {
    uint64_t id = 42;
    flakeid_ring_stats stats = FLAKEID_RING_STATS_INIT;
    flakeid_local *local = NULL;
    flakeid_cached *ring = NULL;
    EXPECT(FLAKEID_FORKED, flakeid_local_next(set.local, &id));
    EXPECT(FLAKEID_FORKED, flakeid_cached_take(set.ring, &id));
    CHECK(strstr(flakeid_last_error(), "parent process") != NULL, "the message");
    EXPECT(FLAKEID_FORKED, flakeid_cached_next(set.ring, &id));
    EXPECT(FLAKEID_OK, flakeid_cached_stats(set.ring, &stats));
    EXPECT(FLAKEID_OK, flakeid_local_open(set.generator, &local));
    EXPECT(FLAKEID_FORKED, flakeid_local_next(local, &id));
    EXPECT(FLAKEID_FORKED, flakeid_cached_open(set.generator, NULL, &ring));
    CHECK(id == 42 && ring == NULL, "outputs");
    flakeid_local_free(local);
}

static void in_child(struct set fixed, struct set leased, int pipe_end) {
    uint64_t ids[COUNT];
    refused(fixed);
    make(leased, ids);
    CHECK(write(pipe_end, ids, sizeof ids) == (ssize_t)sizeof ids, "the pipe");
    free_set(fixed);
    free_set(leased);
    /* The child has the memory of the parent's threads but not the threads, which leak checkers would report. So it ends
     * as another program, which has no such memory. */
    execlp("true", "true", (char *)NULL);
    CHECK(0, "true");
}

static void in_parent(pid_t child, int pipe_end, uint64_t *ids) {
    size_t received = 0;
    int status = 0;
    while (received < COUNT * sizeof *ids) {
        ssize_t some = read(pipe_end, (char *)ids + received, COUNT * sizeof *ids - received);
        CHECK(some > 0, "the child's IDs");
        received += (size_t)some;
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child");
}

int main(void) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_lease_config lease = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    struct set fixed, leased;
    uint64_t child_ids[COUNT], ours[COUNT], node = 0;
    int ends[2];
    size_t at;
    pid_t child;
    config.has = FLAKEID_HAS_NODE;
    config.node = 1;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    fixed = set_of(generator);
    make_store();
    lease.has = FLAKEID_HAS_MAX_WAIT;
    lease.max_wait_ms = 20000;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &lease, &generator));
    leased = set_of(generator);
    CHECK(pipe(ends) == 0, "a pipe");
    child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        close(ends[0]);
        in_child(fixed, leased, ends[1]);
    }
    close(ends[1]);
    in_parent(child, ends[0], child_ids);
    close(ends[0]);
    EXPECT(FLAKEID_OK, flakeid_generator_node(leased.generator, &node));
    for (at = 0; at < COUNT; at++) {
        CHECK(node_of(child_ids[at]) != node, "the parent's node in the child");
    }
    make(leased, ours);
    make(fixed, ours);
    free_set(fixed);
    free_set(leased);
    remove_store();
    puts("fast_fork: passed");
    return 0;
}
