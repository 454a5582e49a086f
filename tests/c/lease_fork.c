/* Tests that a leased generator continues in a forked child with a new node of the child. */
#define _XOPEN_SOURCE 700

#include <sys/types.h>
#include <sys/wait.h>

#include "store.h"

enum { COUNT = 1000, CHILDREN = 4 };

static void fill(flakeid_generator *generator, uint64_t *ids) {
    size_t count = 0;
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids, COUNT, &count));
    CHECK(count == COUNT, "a full array");
}

/* Checks that calls that never wait start no ring, with or without a lease, and that waiting calls do. */
static void poll(flakeid_cached *ring, flakeid_generator *parents, uint64_t *ids) {
    uint64_t id = 42;
    flakeid_lease_status lease = FLAKEID_LEASE_STATUS_INIT;
    flakeid_ring_stats before = FLAKEID_RING_STATS_INIT, after = FLAKEID_RING_STATS_INIT;
    EXPECT(FLAKEID_OK, flakeid_cached_stats(ring, &before));
    EXPECT(FLAKEID_RING_EMPTY, flakeid_cached_poll(ring, &id));
    EXPECT(FLAKEID_OK, flakeid_generator_lease(parents, &lease));
    CHECK(lease.grants == 0 && lease.fence == 0, "a lease for a poll");
    fill(parents, ids);
    EXPECT(FLAKEID_RING_EMPTY, flakeid_cached_poll(ring, &id));
    EXPECT(FLAKEID_OK, flakeid_cached_stats(ring, &after));
    CHECK(id == 42 && after.size == before.size, "a ring for a poll");
    CHECK(after.rejected_take == before.rejected_take, "a poll does not count as a refusal");
    EXPECT(FLAKEID_OK, flakeid_cached_next(ring, &id));
    CHECK(node_of(id) == node_of(ids[0]), "the ring of the child's node");
    EXPECT(FLAKEID_OK, flakeid_cached_poll(ring, &id));
    flakeid_cached_free(ring);
}

/* Generates IDs and sends them to the parent. */
static void in_child(flakeid_generator *parents, flakeid_cached *ring, int pipe_end) {
    uint64_t ids[COUNT];
    flakeid_lease_status lease = FLAKEID_LEASE_STATUS_INIT;
    EXPECT(FLAKEID_OK, flakeid_generator_lease(parents, &lease));
    CHECK(lease.grants == 0 && lease.fence == 0, "no lease yet");
    poll(ring, parents, ids);
    EXPECT(FLAKEID_OK, flakeid_generator_lease(parents, &lease));
    CHECK(lease.grants == 1, "a lease of its own");
    CHECK(write(pipe_end, ids, sizeof ids) == (ssize_t)sizeof ids, "the pipe");
    flakeid_generator_free(parents);
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
    close(pipe_end);
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child");
}

int main(void) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *generator = NULL, *other = NULL;
    uint64_t ids[COUNT], child_ids[COUNT], again[COUNT];
    flakeid_cached *ring = NULL;
    int turn;
    size_t at;
    make_store();
    config.has = FLAKEID_HAS_NODES | FLAKEID_HAS_MAX_WAIT;
    config.first_node = 0;
    /* Enough only if the children release their nodes. On a busy machine, a release may take longer than the second for
     * which a child waits, so one node more is available. */
    config.last_node = 2;
    config.max_wait_ms = 20000;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &config, &generator));
    EXPECT(FLAKEID_OK, flakeid_cached_open(generator, NULL, &ring));
    fill(generator, ids);
    for (turn = 0; turn < CHILDREN; turn++) {
        int ends[2];
        pid_t child;
        CHECK(pipe(ends) == 0, "a pipe");
        child = fork();
        CHECK(child >= 0, "fork");
        if (child == 0) {
            close(ends[0]);
            in_child(generator, ring, ends[1]);
        }
        close(ends[1]);
        in_parent(child, ends[0], child_ids);
        fill(generator, again);
        for (at = 0; at < COUNT; at++) {
            CHECK(node_of(child_ids[at]) != node_of(ids[0]), "the parent's node in a child");
            CHECK(node_of(again[at]) == node_of(ids[0]), "the parent's node");
            CHECK(at == 0 || child_ids[at - 1] < child_ids[at], "the child's order");
            CHECK(again[at] > ids[COUNT - 1], "the parent's order");
        }
    }
    config.name = "other";
    config.max_wait_ms = 0;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &config, &other));
    flakeid_generator_free(other);
    flakeid_cached_free(ring);
    flakeid_generator_free(generator);
    remove_store();
    puts("lease_fork: passed");
    return 0;
}
