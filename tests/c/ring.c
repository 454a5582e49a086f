/* ring IDS: tests rings: IDS IDs for several threads from one ring, its bounds on a stopped clock, and the handlers of
 * refusals. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <time.h>

#include "store.h"

enum { THREADS = 4, TICK = 4096 };

static const int64_t START = INT64_C(1505914988000);

static flakeid_config with_node(uint64_t node) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    config.has = FLAKEID_HAS_NODE | FLAKEID_HAS_MAX_WAIT;
    config.node = node;
    config.max_wait_ms = 60000;
    return config;
}

static flakeid_generator *built(flakeid_config config) {
    flakeid_generator *generator = NULL;
    EXPECT(FLAKEID_OK, flakeid_generator_new(&config, &generator));
    return generator;
}

static flakeid_cached *over(const flakeid_generator *generator, const flakeid_ring_config *config) {
    flakeid_cached *ring = NULL;
    EXPECT(FLAKEID_OK, flakeid_cached_open(generator, config, &ring));
    return ring;
}

static flakeid_ring_stats stats_of(const flakeid_cached *ring) {
    flakeid_ring_stats stats = FLAKEID_RING_STATS_INIT;
    EXPECT(FLAKEID_OK, flakeid_cached_stats(ring, &stats));
    return stats;
}

static void nap(void) {
    const struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
}

struct share {
    pthread_t thread;
    const flakeid_cached *ring;
    uint64_t *ids;
    size_t n;
};

/* Takes IDs, every second one without waiting. */
static void *work(void *argument) {
    struct share *share = argument;
    size_t index;
    for (index = 0; index < share->n; index++) {
        uint64_t *id = share->ids + index;
        flakeid_status status = FLAKEID_RING_EMPTY;
        while (index % 2 == 0 && status == FLAKEID_RING_EMPTY) {
            status = flakeid_cached_take(share->ring, id);
        }
        if (index % 2 == 1) {
            status = flakeid_cached_next(share->ring, id);
        }
        CHECK(status == FLAKEID_OK, "an ID");
        CHECK(index == 0 || share->ids[index - 1] < *id, "the order within a thread");
    }
    return NULL;
}

static int compare(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void threads(const flakeid_cached *ring, size_t n) {
    const size_t all = THREADS * n;
    uint64_t *ids = malloc(all * sizeof *ids);
    struct share shares[THREADS];
    size_t index;
    CHECK(ids != NULL, "memory");
    for (index = 0; index < THREADS; index++) {
        shares[index].ring = ring;
        shares[index].ids = ids + index * n;
        shares[index].n = n;
        CHECK(pthread_create(&shares[index].thread, NULL, work, &shares[index]) == 0, "a thread");
    }
    for (index = 0; index < THREADS; index++) {
        CHECK(pthread_join(shares[index].thread, NULL) == 0, "a thread");
    }
    CHECK(stats_of(ring).taken == all, "taken");
    qsort(ids, all, sizeof *ids, compare);
    for (index = 1; index < all; index++) {
        CHECK(ids[index - 1] != ids[index], "an ID was issued twice");
    }
    printf("ring: %lu IDs, none twice\n", (unsigned long)all);
    free(ids);
}

/* Calls of the handlers, one of which runs on another thread. */
struct told {
    pthread_mutex_t lock;
    int puts, takes;
    flakeid_status put, take;
    int64_t retry_after;
    char message[200];
};

static struct told *told_of(void *user_data) {
    struct told *told = user_data;
    CHECK(pthread_mutex_lock(&told->lock) == 0, "the lock");
    return told;
}

static void on_put(flakeid_status status, void *user_data) {
    struct told *told = told_of(user_data);
    CHECK(strlen(flakeid_last_error()) > 10, "the message of the refill thread");
    told->puts++;
    told->put = status;
    pthread_mutex_unlock(&told->lock);
}

static void on_take(flakeid_status status, void *user_data) {
    struct told *told = told_of(user_data);
    told->takes++;
    told->take = status;
    told->retry_after = flakeid_retry_after_ms();
    snprintf(told->message, sizeof told->message, "%s", flakeid_last_error());
    pthread_mutex_unlock(&told->lock);
}

static int puts_of(struct told *told) {
    int puts;
    told_of(told);
    puts = told->puts;
    pthread_mutex_unlock(&told->lock);
    return puts;
}

/* Takes the IDs of one tick on a stopped clock, then none, then those of a later tick. */
static void bounds(flakeid_manual_clock *clock) {
    struct told told = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0, ""};
    flakeid_config config = with_node(2);
    flakeid_ring_config options = FLAKEID_RING_CONFIG_INIT;
    flakeid_ring_stats stats;
    flakeid_generator *generator;
    flakeid_cached *ring;
    flakeid_parts parts;
    uint64_t id = 0, last = 0;
    int64_t now = 0;
    int index;
    config.clock = clock;
    generator = built(config);
    options.has = FLAKEID_HAS_BOOST_POWER | FLAKEID_HAS_PADDING_FACTOR | FLAKEID_HAS_MAX_AGE;
    options.boost_power = 2;
    options.padding_factor = 10;
    options.max_age_ms = 50;
    options.on_rejected_put = on_put;
    options.on_rejected_take = on_take;
    options.user_data = &told;
    ring = over(generator, &options);
    stats = stats_of(ring);
    CHECK(stats.capacity == 4 * TICK && stats.size == TICK && stats.taken == 0, "one tick");
    for (index = 0; index < TICK; index++) {
        EXPECT(FLAKEID_OK, flakeid_cached_take(ring, &id));
        CHECK(last < id, "the order");
        last = id;
    }
    id = 42;
    EXPECT(FLAKEID_RING_EMPTY, flakeid_cached_poll(ring, &id));
    CHECK(told.takes == 0 && stats_of(ring).rejected_take == 0, "a poll does not count as a refusal");
    EXPECT(FLAKEID_RING_EMPTY, flakeid_cached_take(ring, &id));
    CHECK(id == 42 && flakeid_retry_after_ms() >= 0, "outputs");
    CHECK(told.takes == 1 && told.take == FLAKEID_RING_EMPTY, "the handler");
    CHECK(strcmp(told.message, flakeid_last_error()) == 0, "the message");
    CHECK(told.retry_after == flakeid_retry_after_ms(), "the details");

    EXPECT(FLAKEID_OK, flakeid_manual_clock_advance(clock, 1));
    EXPECT(FLAKEID_OK, flakeid_cached_next(ring, &id));
    CHECK(last < id, "the next tick");
    stats = stats_of(ring);
    CHECK(stats.taken == TICK + 1 && stats.rejected_take == 1 && stats.refills > 0, "the counts");

    /* The ring returns no ID that is too old. */
    EXPECT(FLAKEID_OK, flakeid_manual_clock_advance(clock, 1000));
    EXPECT(FLAKEID_OK, flakeid_manual_clock_get(clock, &now));
    EXPECT(FLAKEID_OK, flakeid_cached_next(ring, &id));
    EXPECT(FLAKEID_OK, flakeid_decode(NULL, id, &parts));
    CHECK(parts.unix_ms >= now - 50 && parts.unix_ms <= now, "its age");
    CHECK(stats_of(ring).dropped_stale > 0 && told.puts == 0, "the counts");

    EXPECT(FLAKEID_OK, flakeid_generator_retire(generator, &last));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_take(ring, &id));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_next(ring, &id));
    CHECK(told.takes == (int)stats_of(ring).rejected_take, "closing does not count as a rejection");
    flakeid_cached_free(ring);
    flakeid_generator_free(generator);
}

/* Checks that the end of a window stops the refills, and that their thread calls the handler. */
static void the_end_of_a_window(flakeid_manual_clock *clock) {
    struct told told = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0, ""};
    flakeid_config config = with_node(3);
    flakeid_ring_config options = FLAKEID_RING_CONFIG_INIT;
    flakeid_generator *generator;
    flakeid_cached *ring;
    uint64_t id = 0, tick = 0;
    int64_t now = 0;
    flakeid_status status = FLAKEID_OK;
    EXPECT(FLAKEID_OK, flakeid_manual_clock_get(clock, &now));
    EXPECT(FLAKEID_OK, flakeid_tick_at(NULL, now, &tick));
    config.has |= FLAKEID_HAS_WINDOW;
    config.window_start = tick;
    config.window_fence = tick + 5;
    config.max_wait_ms = 1;
    config.clock = clock;
    generator = built(config);
    options.on_rejected_put = on_put;
    options.on_rejected_take = on_take;
    options.user_data = &told;
    ring = over(generator, &options);
    EXPECT(FLAKEID_OK, flakeid_manual_clock_advance(clock, 10));
    while (status == FLAKEID_OK) {
        status = flakeid_cached_next(ring, &id);
    }
    while (puts_of(&told) == 0) {
        nap();
    }
    told_of(&told);
    CHECK(told.put == FLAKEID_LEASE_EXPIRED && told.takes > 0, "both handlers were called");
    pthread_mutex_unlock(&told.lock);
    CHECK(stats_of(ring).rejected_put > 0, "the count");
    EXPECT(FLAKEID_OK, flakeid_generator_extend(generator, tick + 100));
    while (flakeid_cached_next(ring, &id) != FLAKEID_OK) {
        nap();
    }
    flakeid_cached_free(ring);
    flakeid_generator_free(generator);
}

static void refused(flakeid_ring_config config, flakeid_status status, const char *reason) {
    flakeid_generator *generator = built(with_node(4));
    flakeid_cached *ring = NULL;
    CHECK(flakeid_cached_open(generator, &config, &ring) == status, reason);
    CHECK(ring == NULL, reason);
    CHECK(strstr(flakeid_last_error(), reason) != NULL, reason);
    flakeid_generator_free(generator);
}

static void bad_options(void) {
    const flakeid_ring_config none = FLAKEID_RING_CONFIG_INIT;
    flakeid_ring_config config;
#define REFUSED(status, reason, change)  \
    do {                                 \
        config = none;                   \
        change;                          \
        refused(config, status, reason); \
    } while (0)
    const flakeid_status range = FLAKEID_FIELD_OUT_OF_RANGE, option = FLAKEID_INVALID_OPTION;
    REFUSED(range, "boost_power 21", config.has = FLAKEID_HAS_BOOST_POWER; config.boost_power = 21);
    REFUSED(range, "from 0 to 20", config.has = FLAKEID_HAS_BOOST_POWER;
            config.boost_power = UINT32_MAX);
    REFUSED(range, "padding_factor 0", config.has = FLAKEID_HAS_PADDING_FACTOR);
    REFUSED(range, "from 1 to 99", config.has = FLAKEID_HAS_PADDING_FACTOR;
            config.padding_factor = 100);
    CHECK(strcmp(flakeid_last_error_field(), "padding_factor") == 0, "the field");
    REFUSED(option, "refill_interval", config.has = FLAKEID_HAS_REFILL_INTERVAL);
    REFUSED(option, "max_age", config.has = FLAKEID_HAS_MAX_AGE);
    REFUSED(option, "max_age", config.has = FLAKEID_HAS_MAX_AGE; config.max_age_ms = 1);
    REFUSED(option, "boost_power: set, but `has` lacks its", config.boost_power = 1);
    REFUSED(option, "padding_factor: set, but `has` lacks its", config.padding_factor = 1);
    REFUSED(option, "refill_interval_ms: set, but `has` lacks its", config.refill_interval_ms = 1);
    REFUSED(option, "max_age_ms: set, but `has` lacks its", config.max_age_ms = 1);
    REFUSED(option, "flags that this struct does not have", config.has = FLAKEID_HAS_NODE);
    REFUSED(option, "user_data", config.user_data = &config);
    REFUSED(option, "struct_size", config.struct_size = 0);
    REFUSED(option, "struct_size", config.struct_size -= 4);
}

static void refusals(void) {
    flakeid_config config = with_node(5);
    flakeid_generator *generator = built(config), *clocked;
    flakeid_cached *ring = NULL;
    flakeid_ring_stats stats = FLAKEID_RING_STATS_INIT;
    uint64_t id = 42;
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_open(NULL, NULL, &ring));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_open(generator, NULL, NULL));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_take(NULL, &id));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_poll(NULL, &id));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_next(NULL, &id));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_stats(NULL, &stats));
    config.layout = "t41.c2.n10.s10@1288834974657/1ms";
    config.rollback = FLAKEID_ROLLBACK_CLOCK_SEQUENCE;
    clocked = built(config);
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_cached_open(clocked, NULL, &ring));
    CHECK(ring == NULL && id == 42, "outputs");
    flakeid_generator_free(clocked);
    ring = over(generator, NULL);
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_take(ring, NULL));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_poll(ring, NULL));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_next(ring, NULL));
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_stats(ring, NULL));
    stats.struct_size = 4;
    EXPECT(FLAKEID_INVALID_OPTION, flakeid_cached_stats(ring, &stats));
    CHECK(stats_of(ring).taken == 0, "a rejected call changed the generator");
    flakeid_cached_free(NULL);
    /* A ring outlives the generator's handle. */
    flakeid_generator_free(generator);
    EXPECT(FLAKEID_OK, flakeid_cached_next(ring, &id));
    CHECK(node_of(id) == 5, "the node");
    flakeid_cached_free(ring);
}

static void leased(size_t n) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_ring_config options = FLAKEID_RING_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    flakeid_cached *ring;
    uint64_t id = 42;
    make_store();
    config.has = FLAKEID_HAS_MAX_WAIT;
    config.max_wait_ms = 60000;
    config.overflow = FLAKEID_OVERFLOW_BORROW;
    EXPECT(FLAKEID_OK, flakeid_generator_open(store_url, &config, &generator));
    options.has = FLAKEID_HAS_REFILL_INTERVAL;
    options.refill_interval_ms = 20;
    ring = over(generator, &options);
    threads(ring, n);
    flakeid_generator_free(generator);
    EXPECT(FLAKEID_CLOSED, flakeid_cached_next(ring, &id));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_take(ring, &id));
    CHECK(id == 42, "outputs");
    EXPECT(FLAKEID_RING_EMPTY, flakeid_cached_poll(ring, &id));
    flakeid_cached_free(ring);
    remove_store();
}

static void *until_closed(void *argument) {
    const flakeid_cached *ring = argument;
    uint64_t id = 0, last = 0;
    flakeid_status status;
    while ((status = flakeid_cached_next(ring, &id)) == FLAKEID_OK) {
        CHECK(last < id, "the order");
        last = id;
    }
    EXPECT(FLAKEID_CLOSED, status);
    return NULL;
}

/* Closes the ring while other threads take IDs; the generator remains usable. */
static void closed_ring(void) {
    flakeid_generator *generator = built(with_node(6));
    flakeid_cached *ring = over(generator, NULL);
    pthread_t takers[THREADS];
    uint64_t id = 0;
    int index;
    for (index = 0; index < THREADS; index++) {
        CHECK(pthread_create(takers + index, NULL, until_closed, ring) == 0, "a thread");
    }
    EXPECT(FLAKEID_OK, flakeid_cached_next(ring, &id));
    EXPECT(FLAKEID_OK, flakeid_cached_close(ring));
    for (index = 0; index < THREADS; index++) {
        CHECK(pthread_join(takers[index], NULL) == 0, "a thread");
    }
    id = 42;
    EXPECT(FLAKEID_OK, flakeid_cached_close(ring));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_take(ring, &id));
    EXPECT(FLAKEID_CLOSED, flakeid_cached_next(ring, &id));
    EXPECT(FLAKEID_RING_EMPTY, flakeid_cached_poll(ring, &id));
    CHECK(id == 42 && stats_of(ring).size == 0, "outputs");
    EXPECT(FLAKEID_NULL_ARGUMENT, flakeid_cached_close(NULL));
    EXPECT(FLAKEID_OK, flakeid_generator_next(generator, &id));
    flakeid_cached_free(ring);
    flakeid_generator_free(generator);
}

int main(int count, char **arguments) {
    flakeid_manual_clock *clock = NULL;
    flakeid_generator *generator;
    flakeid_cached *ring;
    size_t n;
    CHECK(count == 2, "usage: ring IDS");
    n = (size_t)strtoull(arguments[1], NULL, 10) / THREADS;
    CHECK(n > 0, "usage: ring IDS");
    generator = built(with_node(1));
    ring = over(generator, NULL);
    threads(ring, n);
    flakeid_generator_free(generator);
    flakeid_cached_free(ring);
    EXPECT(FLAKEID_OK, flakeid_manual_clock_new(START, &clock));
    bounds(clock);
    the_end_of_a_window(clock);
    flakeid_manual_clock_free(clock);
    bad_options();
    refusals();
    closed_ring();
    leased(n / 10 + 1);
    return 0;
}
