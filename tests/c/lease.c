/* Tests a node leased from an SQLite store. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <time.h>

#include "store.h"

/* Whether memory is checked, which can make an attempt exceed its timeout while the next one succeeds. */
static int is_watched;

static flakeid_lease_config options(void) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    return config;
}

static flakeid_lease_config of_node(uint64_t first, uint64_t last) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    config.has = FLAKEID_HAS_NODES | FLAKEID_HAS_MAX_WAIT;
    config.first_node = first;
    config.last_node = last;
    return config;
}

/* Repeats the call, because a program whose memory is checked is slow. */
static flakeid_generator *opened(flakeid_lease_config config) {
    flakeid_generator *generator = NULL;
    config.has |= FLAKEID_HAS_MAX_WAIT;
    config.max_wait_ms = 60000;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &config, &generator));
    return generator;
}

static void every_call(void) {
    flakeid_lease_config config = options();
    flakeid_generator *generator;
    flakeid_lease_status lease = FLAKEID_LEASE_STATUS_INIT;
    flakeid_stats stats = FLAKEID_STATS_INIT;
    char layout[FLAKEID_DESCRIPTOR_SIZE];
    uint64_t ids[1000], node = 0, index;
    size_t count = 0;
    config.namespace_name = "orders";
    generator = opened(config);
    EXPECT(FLAKEID_OK, flakeid_generator_node(generator, &node));
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &ids[0]));
    EXPECT(FLAKEID_OK, flakeid_generator_try_next(generator, &ids[1]));
    EXPECT(FLAKEID_OK, flakeid_generator_try_fill(generator, ids + 2, 8, &count));
    CHECK(count == 8, "try_fill");
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids + 10, 990, &count));
    CHECK(count == 990, "fill");
    for (index = 0; index < 1000; index++) {
        CHECK(index == 0 || ids[index - 1] < ids[index], "the order");
        CHECK(node_of(ids[index]) == node, "the node");
    }
    EXPECT(FLAKEID_OK, flakeid_generator_stats(generator, &stats));
    EXPECT(FLAKEID_OK, flakeid_generator_layout(generator, layout, sizeof layout));
    CHECK(strcmp(layout, "t41.d5.w5.s12@1288834974657/1ms") == 0, layout);
    EXPECT(FLAKEID_OK, flakeid_generator_lease(generator, &lease));
    CHECK(lease.start < lease.fence && lease.grants == 1 && !lease.fenced_off, "the lease");
    CHECK(lease.expires_in_ms > 0 && lease.expires_in_ms <= 60000, "the time of expiry");
    CHECK(lease.last_error == FLAKEID_OK, "the latest attempt succeeded");
    CHECK(lease.failures == 0 || is_watched, "no errors");
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_extend(generator, UINT64_MAX));
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_retire(generator, &node));
    EXPECT(FLAKEID_OK, flakeid_generator_close(generator));
    EXPECT(FLAKEID_CLOSED, flakeid_generator_next(generator, &node));
    EXPECT(FLAKEID_OK, flakeid_generator_close(generator));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_generator_lease(generator, NULL));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_generator_lease(NULL, &lease));
    flakeid_generator_free(generator);
}

static void sharing_and_the_end(void) {
    flakeid_lease_config config = of_node(3, 3), other = of_node(3, 3);
    flakeid_generator *first = opened(config), *second = opened(config), *third = NULL;
    flakeid_local *local = NULL;
    flakeid_cached *cached = NULL;
    uint64_t id = 0, later = 0;
    other.name = "other";
    EXPECT(FLAKEID_NO_FREE_NODE, flakeid_generator_open(store_url, &other, &third));
    CHECK(third == NULL && flakeid_retry_after_ms() > 0, "a refusal");
    EXPECT(FLAKEID_OK, flakeid_local_open(first, &local));
    EXPECT(FLAKEID_OK, flakeid_cached_open(first, NULL, &cached));
    EXPECT(FLAKEID_OK, flakeid_local_next(local, &id));
    EXPECT(FLAKEID_OK, flakeid_cached_next(cached, &id));
    EXPECT(FLAKEID_OK, flakeid_generator_next(first, &id));
    flakeid_generator_free(first);
    EXPECT(FLAKEID_CLOSED, flakeid_local_next(local, &later));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_take(cached, &later));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_next(cached, &later));
    flakeid_local_free(local);
    flakeid_cached_free(cached);
    EXPECT(FLAKEID_OK, flakeid_generator_next(second, &later));
    CHECK(later > id, "the shared lease continues");
    flakeid_generator_free(second);
    third = opened(other);
    EXPECT(FLAKEID_OK, flakeid_generator_next(third, &id));
    CHECK(id > later && node_of(id) == 3, "the node was released");
    flakeid_generator_free(third);
}

static void a_fixed_node(void) {
    flakeid_lease_config config = options();
    flakeid_generator *generator;
    flakeid_lease_status lease = FLAKEID_LEASE_STATUS_INIT;
    flakeid_config fixed = FLAKEID_CONFIG_INIT;
    uint64_t id = 0;
    config.has = FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER | FLAKEID_HAS_TTL;
    config.datacenter = 2;
    config.worker = 1;
    config.ttl_ms = 5000;
    generator = opened(config);
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    CHECK(node_of(id) == 65, "the node");
    EXPECT(FLAKEID_OK, flakeid_generator_lease(generator, &lease));
    CHECK(lease.expires_in_ms <= 5000, "ttl_ms");
    flakeid_generator_free(generator);
    fixed.has = FLAKEID_HAS_NODE;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&fixed, &generator));
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_generator_lease(generator, &lease));
    flakeid_generator_free(generator);
}

static void several_nodes(void) {
    enum { NODES = 2, IDS = NODES * 4096 + 1 };
    static uint64_t ids[IDS];
    flakeid_lease_config config = of_node(20, 29);
    flakeid_generator *generator;
    uint64_t nodes[NODES];
    size_t count = 0, at;
    config.node_count = NODES;
    config.clock_name = "coarse";
    generator = opened(config);
    EXPECT(FLAKEID_OK, flakeid_generator_nodes(generator, nodes, NODES, &count));
    CHECK(count == NODES && 20 <= nodes[0] && nodes[0] < nodes[1] && nodes[1] <= 29, "the nodes");
    EXPECT(FLAKEID_OK, flakeid_generator_fill(generator, ids, IDS, &count));
    CHECK(count == IDS, "more than a tick");
    for (at = 0; at < IDS; at++) {
        const uint64_t node = node_of(ids[at]);
        CHECK(at == 0 || ids[at - 1] < ids[at], "the order");
        CHECK(node == nodes[0] || node == nodes[1], "the nodes");
    }
    flakeid_generator_free(generator);
}

struct log {
    int kinds[8];
    size_t count;
    uint64_t node;
};

static void told(const flakeid_lease_event *event, void *user_data) {
    struct log *log = user_data;
    if (log->count < 8) {
        log->kinds[log->count++] = event->kind;
    }
    log->node = event->node;
    CHECK(event->struct_size == sizeof *event && event->reserved == 0, "the struct");
    CHECK((event->message != NULL) == (event->status != FLAKEID_OK), "the message");
}

static void events(void) {
    struct log log = {{0}, 0, 0};
    flakeid_lease_config config = of_node(9, 9);
    flakeid_generator *generator;
    config.on_event = told;
    config.user_data = &log;
    generator = opened(config);
    flakeid_generator_free(generator);
    CHECK(log.count == 2 && log.node == 9, "two events");
    CHECK(log.kinds[0] == FLAKEID_LEASE_ACQUIRED && log.kinds[1] == FLAKEID_LEASE_RELEASED, "both");
}

enum ending { CLOSES, FREES, LOCKS };

/* The data that on_event shares with the main program. Only the mutex `held` is used without the mutex `guard`. */
static struct {
    pthread_mutex_t guard, held;
    enum ending ending;
    flakeid_generator *generator;
    int has_begun, has_ended;
} shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, CLOSES, NULL, 0, 0};

static void set(int *variable, int value) {
    pthread_mutex_lock(&shared.guard);
    *variable = value;
    pthread_mutex_unlock(&shared.guard);
}

static void wait_for(const int *variable) {
    const struct timespec millisecond = {0, 1000000};
    int is_set = 0;
    while (!is_set) {
        nanosleep(&millisecond, NULL);
        pthread_mutex_lock(&shared.guard);
        is_set = *variable;
        pthread_mutex_unlock(&shared.guard);
    }
}

/* Ends the generator once the main program has passed it, or waits for the main program. */
static void ends(const flakeid_lease_event *event, void *user_data) {
    flakeid_generator *generator;
    (void)event;
    pthread_mutex_lock(&shared.guard);
    generator = shared.generator;
    shared.generator = NULL;
    pthread_mutex_unlock(&shared.guard);
    CHECK(user_data == &shared, "the data");
    if (generator == NULL) {
        return;
    }
    set(&shared.has_begun, 1);
    if (shared.ending == CLOSES) {
        EXPECT(FLAKEID_OK, flakeid_generator_close(generator));
    } else if (shared.ending == FREES) {
        flakeid_generator_free(generator);
    } else {
        pthread_mutex_lock(&shared.held);
        pthread_mutex_unlock(&shared.held);
    }
    set(&shared.has_ended, 1);
}

/* Ends a generator in on_event, and while the program holds a lock for which on_event waits. */
static void ended_by_events(enum ending ending) {
    flakeid_lease_config config = of_node(11, 11), other = of_node(11, 11);
    flakeid_generator *generator, *next = NULL;
    flakeid_status status;
    config.has |= FLAKEID_HAS_WINDOW_MS;
    config.window_ms = 1000;
    config.on_event = ends;
    config.user_data = &shared;
    other.name = "next";
    shared.ending = ending;
    shared.has_begun = shared.has_ended = 0;
    generator = opened(config);
    pthread_mutex_lock(&shared.guard);
    shared.generator = generator;
    pthread_mutex_unlock(&shared.guard);
    if (ending == LOCKS) {
        pthread_mutex_lock(&shared.held);
        wait_for(&shared.has_begun);
        EXPECT(FLAKEID_OK, flakeid_generator_close(generator));
        pthread_mutex_unlock(&shared.held);
    }
    wait_for(&shared.has_ended);
    if (ending != FREES) {
        flakeid_generator_free(generator);
    }
    /* If on_event ends the generator, its node is released afterwards. */
    do {
        status = flakeid_generator_open(store_url, &other, &next);
    } while (status == FLAKEID_NO_FREE_NODE);
    CHECK(status == FLAKEID_OK, "the node was not released");
    flakeid_generator_free(next);
}

static void refused(const char *url, const flakeid_lease_config *config, flakeid_status status) {
    flakeid_generator *generator = NULL;
    EXPECT(status, flakeid_generator_open(url, config, &generator));
    CHECK(generator == NULL, "the failed call returned a generator");
    CHECK(strlen(flakeid_last_error()) > 10, "the message");
}

static void refusals(void) {
    flakeid_lease_config config = options();
    CHECK(flakeid_generator_open(store_url, &config, NULL) == FLAKEID_NULL_ARGUMENT, "generator");
    refused("", NULL, FLAKEID_INVALID_OPTION);
    refused("nonsense", NULL, FLAKEID_INVALID_OPTION);
    refused("ftp://host", NULL, FLAKEID_INVALID_OPTION);
#define REFUSED(status, change)              \
    do {                                     \
        config = options();                  \
        change;                              \
        refused(store_url, &config, status); \
    } while (0)
    REFUSED(FLAKEID_INVALID_OPTION, config.struct_size = 3);
    REFUSED(FLAKEID_INVALID_OPTION, config.node = 1);
    REFUSED(FLAKEID_INVALID_OPTION, config.ttl_ms = 1);
    REFUSED(FLAKEID_INVALID_OPTION, config.has = FLAKEID_HAS_WINDOW);
    REFUSED(FLAKEID_INVALID_OPTION, config.has = FLAKEID_HAS_WORKER);
    REFUSED(FLAKEID_INVALID_OPTION, config.has = FLAKEID_HAS_DATACENTER);
    REFUSED(FLAKEID_INVALID_OPTION, config.has = FLAKEID_HAS_NODE; config.name = "a");
    REFUSED(FLAKEID_INVALID_OPTION, config.name = "");
    REFUSED(FLAKEID_INVALID_OPTION, config.namespace_name = "a b");
    REFUSED(FLAKEID_INVALID_OPTION, config.never_reuse = 2);
    REFUSED(FLAKEID_INVALID_OPTION, config.overflow = 3);
    REFUSED(FLAKEID_INVALID_OPTION, config.rollback = FLAKEID_ROLLBACK_CLOCK_SEQUENCE);
    REFUSED(FLAKEID_INVALID_OPTION, config.user_data = &config);
    REFUSED(FLAKEID_INVALID_OPTION, config.clock_name = "nonsense");
    REFUSED(FLAKEID_INVALID_OPTION, config.node_count = 3);
    REFUSED(FLAKEID_INVALID_OPTION, config.node_count = 2; config.name = "a");
    REFUSED(FLAKEID_INVALID_OPTION, config.node_count = 2; config.has = FLAKEID_HAS_NODE);
    REFUSED(FLAKEID_INVALID_OPTION, config.reserved = 1);
    REFUSED(FLAKEID_INVALID_LAYOUT, config.layout = "nonsense");
    REFUSED(FLAKEID_FIELD_OUT_OF_RANGE, config.has = FLAKEID_HAS_NODE; config.node = 1024);
    REFUSED(FLAKEID_FIELD_OUT_OF_RANGE, config.has = FLAKEID_HAS_NODES; config.last_node = 1024);
    REFUSED(FLAKEID_FIELD_OUT_OF_RANGE, config.has = FLAKEID_HAS_WINDOW_MS);
    REFUSED(FLAKEID_STORE_REJECTED, config.layout = "plain");
}

/* Creates a namespace twice, and then with other options, which is refused. */
static void namespaces(void) {
    flakeid_namespace_config config = FLAKEID_NAMESPACE_CONFIG_INIT;
    uint64_t wait_ms = 1;
    int turn;
    config.layout = "sonyflake";
    config.has = FLAKEID_HAS_MAX_WINDOW;
    config.max_window_ms = 60000;
    for (turn = 0; turn < 2; turn++) {
        EXPECT(FLAKEID_OK, flakeid_create_namespace(store_url, "created", &config, &wait_ms));
        CHECK(wait_ms == 0, "the wait");
    }
    EXPECT(FLAKEID_OK, flakeid_create_namespace(store_url, "plain", NULL, NULL));
    EXPECT(FLAKEID_STORE_REJECTED, flakeid_create_namespace(store_url, "created", NULL, &wait_ms));
    config.max_window_ms = 1000;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_create_namespace(store_url, "created", &config, &wait_ms));
    CHECK(strstr(flakeid_last_error(), "max_window_ms: is 1000 ms, but namespace") != NULL,
          flakeid_last_error());
    config.has = 0;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_create_namespace(store_url, "created", &config, &wait_ms));
    config.max_window_ms = 0;
    config.fresh = 2;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_create_namespace(store_url, "created", &config, &wait_ms));
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_create_namespace(store_url, "no such", NULL, &wait_ms));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_create_namespace(NULL, "created", NULL, &wait_ms));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_create_namespace(store_url, NULL, NULL, &wait_ms));
}

/* Opens a lease while the store grants nothing. */
static void late(void) {
    flakeid_namespace_config bounds = FLAKEID_NAMESPACE_CONFIG_INIT;
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    char serial[512];
    uint64_t id = 0;
    bounds.has = FLAKEID_HAS_MAX_WINDOW | FLAKEID_HAS_MAX_SKEW | FLAKEID_HAS_QUIET;
    bounds.max_window_ms = 1000;
    bounds.max_skew_ms = 100;
    bounds.quiet_ms = 3000;
    EXPECT(FLAKEID_OK, flakeid_create_namespace(store_url, "late", &bounds, NULL));
    /* Without this file, the store cannot exclude that it was restored. */
    snprintf(serial, sizeof serial, "%s-serial", store_url + strlen("sqlite://"));
    CHECK(unlink(serial) == 0, serial);
    config.namespace_name = "late";
    config.has = FLAKEID_HAS_WINDOW_MS | FLAKEID_HAS_MAX_WAIT | FLAKEID_HAS_OPEN_WAIT;
    config.window_ms = 1000;
    config.max_wait_ms = 1;
    EXPECT(FLAKEID_FENCE_IN_FUTURE, flakeid_generator_open(store_url, &config, &generator));
    config.has &= ~(uint32_t)FLAKEID_HAS_OPEN_WAIT;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &config, &generator));
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    flakeid_generator_free(generator);
}

/* Opens a lease without a URL, with the environment's store. */
static void auto_store(void) {
    flakeid_generator *generator = NULL;
    uint64_t id = 0;
    CHECK(setenv("FLAKEID_STORE", store_url, 1) == 0, "the environment");
    EXPECT(FLAKEID_OK, flakeid_generator_open(NULL, NULL, &generator));
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    flakeid_generator_free(generator);
}

int main(int count, char **arguments) {
    is_watched = count > 1 && strcmp(arguments[1], "watched") == 0;
    make_store();
    every_call();
    sharing_and_the_end();
    a_fixed_node();
    several_nodes();
    events();
    alarm(300);
    ended_by_events(CLOSES);
    ended_by_events(FREES);
    ended_by_events(LOCKS);
    alarm(0);
    refusals();
    namespaces();
    auto_store();
    late();
    remove_store();
    puts("lease: passed");
    return 0;
}
