/* Local handles and rings. */
#include "native.h"

NATIVE(jlong, localOpen)(ENV, jlong generator) {
    flakeid_local *made = NULL;
    (void)class;
    check(env, flakeid_local_open(HANDLE(flakeid_generator, generator), &made));
    return (jlong)(intptr_t)made;
}

NATIVE(jlong, localNext)(ENV, jlong local) {
    uint64_t id = 0;
    (void)class;
    interruptible(env);
    check(env, flakeid_local_next(HANDLE(flakeid_local, local), &id));
    return (jlong)id;
}

NATIVE(void, localFree)(ENV, jlong local) {
    (void)env, (void)class;
    flakeid_local_free(HANDLE(flakeid_local, local));
}

NATIVE(jlong, cachedOpen)(ENV, jlong generator, jobjectArray settings) {
    flakeid_ring_config config = FLAKEID_RING_CONFIG_INIT;
    flakeid_cached *made = NULL;
    flakeid_options *options = flakeid_jni_options(env, settings);
    (void)class;
    if (options != NULL) {
        config.options = options;
        interruptible(env);
        check(env, flakeid_cached_open(HANDLE(flakeid_generator, generator), &config, &made));
        flakeid_options_free(options);
    }
    return (jlong)(intptr_t)made;
}

NATIVE(jlong, cachedNext)(ENV, jlong cached) {
    uint64_t id = 0;
    (void)class;
    interruptible(env);
    check(env, flakeid_cached_next(HANDLE(flakeid_cached, cached), &id));
    return (jlong)id;
}

/* Returns the next ID, or -1 instead of an exception. It polls, because taking an ID may start a new ring of a lease,
 * which waits. */
static int64_t poll_or_none(int64_t cached) {
    uint64_t id = 0;
    flakeid_status status = flakeid_cached_poll(HANDLE(flakeid_cached, cached), &id);
    return status == FLAKEID_OK ? (int64_t)id : -1;
}

NATIVE(jlong, pollAddress)(ENV) {
    (void)env, (void)class;
    return (jlong)(intptr_t)poll_or_none;
}

NATIVE(jlongArray, cachedStats)(ENV, jlong cached) {
    flakeid_ring_stats stats = FLAKEID_RING_STATS_INIT;
    flakeid_status status = flakeid_cached_stats(HANDLE(flakeid_cached, cached), &stats);
    (void)class;
    check(env, status);
    if (status == FLAKEID_OK) {
        jlong values[] = {(jlong)stats.capacity,      (jlong)stats.size,
                          (jlong)stats.taken,         (jlong)stats.dropped_stale,
                          (jlong)stats.rejected_put,  (jlong)stats.rejected_take,
                          (jlong)stats.refills};
        return longs(env, values, 7);
    }
    return NULL;
}

NATIVE(void, cachedClose)(ENV, jlong cached) {
    (void)class;
    check(env, flakeid_cached_close(HANDLE(flakeid_cached, cached)));
}

NATIVE(void, cachedFree)(ENV, jlong cached) {
    (void)env, (void)class;
    flakeid_cached_free(HANDLE(flakeid_cached, cached));
}
