/* Tests that a forked child never issues an ID of its parent. */
#define _POSIX_C_SOURCE 200809L

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { COUNT = 1000 };

static flakeid_generator *of_node(uint64_t node, flakeid_status status) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    config.has = FLAKEID_HAS_NODE;
    config.node = node;
    EXPECT(status, flakeid_generator_new(&config, &generator));
    return generator;
}

/* Checks in the child that every call on the parent's generator fails, and so does a new generator of its node. */
static void in_child(flakeid_generator *parents, const flakeid_exposed *exposed, int pipe_end) {
    uint64_t ids[COUNT], id = 42, tick = 42;
    size_t count = 42;
    flakeid_stats stats = FLAKEID_STATS_INIT;
    flakeid_generator *own;
    CHECK(*exposed->limit == 0, "the limit of the Go module's fast path");
    EXPECT(FLAKEID_FORKED, flakeid_generator_next(parents, &id));
    EXPECT(FLAKEID_FORKED, flakeid_generator_try_next(parents, &id));
    CHECK(strstr(flakeid_last_error(), "parent process") != NULL, "the message");
    EXPECT(FLAKEID_FORKED, flakeid_generator_fill(parents, ids, COUNT, &count));
    CHECK(count == 0, "the count is always written");
    EXPECT(FLAKEID_FORKED, flakeid_generator_try_fill(parents, ids, COUNT, &count));
    EXPECT(FLAKEID_FORKED, flakeid_generator_retire(parents, &tick));
    EXPECT(FLAKEID_FORKED, flakeid_generator_close(parents));
    EXPECT(FLAKEID_OK, flakeid_generator_stats(parents, &stats));
    CHECK(id == 42 && tick == 42, "outputs");
    CHECK(of_node(1, FLAKEID_FORKED) == NULL, "the parent's node");
    own = of_node(2, FLAKEID_OK);
    EXPECT(FLAKEID_OK, flakeid_generator_fill(own, ids, COUNT, &count));
    CHECK(count == COUNT, "the child's own node");
    CHECK(write(pipe_end, ids, sizeof ids) == (ssize_t)sizeof ids, "the pipe");
    flakeid_generator_free(own);
    flakeid_generator_free(parents);
}

int main(void) {
    uint64_t ids[COUNT], child_ids[COUNT];
    size_t count = 0, mine, theirs, received = 0;
    int ends[2], status = 0;
    pid_t child;
    flakeid_generator *generator = of_node(1, FLAKEID_OK);
    flakeid_exposed exposed = FLAKEID_EXPOSED_INIT;
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids, COUNT / 2, &count));
    EXPECT(FLAKEID_OK, flakeid_generator_expose(generator, &exposed));
    CHECK(*exposed.limit > *exposed.word, "the limit");
    CHECK(pipe(ends) == 0, "a pipe");
    child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        close(ends[0]);
        in_child(generator, &exposed, ends[1]);
        close(ends[1]);
        return 0;
    }
    close(ends[1]);
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids + COUNT / 2, COUNT / 2, &count));
    while (received < sizeof child_ids) {
        ssize_t some = read(ends[0], (char *)child_ids + received, sizeof child_ids - received);
        CHECK(some > 0, "the child's IDs");
        received += (size_t)some;
    }
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child");
    for (mine = 0; mine < COUNT; mine++) {
        CHECK(mine == 0 || ids[mine - 1] < ids[mine], "the parent continues, in order");
        for (theirs = 0; theirs < COUNT; theirs++) {
            CHECK(ids[mine] != child_ids[theirs], "an ID was issued in both processes");
        }
    }
    flakeid_generator_free(generator);
    puts("fork: passed");
    return 0;
}
