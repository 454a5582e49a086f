/* Generators. */
#include "native.h"

NATIVE(jlong, generatorNew)(ENV, jobjectArray settings, jlong clock) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *made = NULL;
    flakeid_options *options = flakeid_jni_options(env, settings);
    (void)class;
    if (options != NULL) {
        config.options = options;
        config.clock = HANDLE(const flakeid_manual_clock, clock);
        check(env, flakeid_generator_new(&config, &made));
        flakeid_options_free(options);
    }
    return (jlong)(intptr_t)made;
}

NATIVE(void, generatorClose)(ENV, jlong generator) {
    (void)class;
    check(env, flakeid_generator_close(HANDLE(flakeid_generator, generator)));
}

NATIVE(void, generatorFree)(ENV, jlong generator) {
    (void)env, (void)class;
    flakeid_generator_free(HANDLE(flakeid_generator, generator));
}

NATIVE(jlong, next)(ENV, jlong generator) {
    uint64_t id = 0;
    (void)class;
    interruptible(env);
    check(env, flakeid_generator_next(HANDLE(flakeid_generator, generator), &id));
    return (jlong)id;
}

NATIVE(jlong, tryNext)(ENV, jlong generator) {
    uint64_t id = 0;
    (void)class;
    check(env, flakeid_generator_try_next(HANDLE(flakeid_generator, generator), &id));
    return (jlong)id;
}

/* Returns the next ID, or -1 instead of an exception. The foreign-function interface calls this function while the garbage
 * collector waits, so it never waits. */
static int64_t next_or_none(int64_t generator) {
    uint64_t id = 0;
    flakeid_status status =
        flakeid_generator_try_next(HANDLE(flakeid_generator, generator), &id);
    return status == FLAKEID_OK ? (int64_t)id : -1;
}

NATIVE(jlong, nextAddress)(ENV) {
    (void)env, (void)class;
    return (jlong)(intptr_t)next_or_none;
}

/* Copies the IDs in pieces, because a call may wait, and must not while it pins the array. */
NATIVE(jint, fill)(ENV, jlong generator, jlongArray ids, jint from, jint to, jboolean waits) {
    flakeid_generator *handle = HANDLE(flakeid_generator, generator);
    uint64_t piece[512];
    jint filled = 0;
    (void)class;
    interruptible(env);
    while (filled < to - from) {
        jint wanted = to - from - filled;
        size_t count = 0;
        size_t most = (size_t)(wanted < 512 ? wanted : 512);
        flakeid_status status = waits ? flakeid_generator_fill(handle, piece, most, &count)
                                      : flakeid_generator_try_fill(handle, piece, most, &count);
        if (status != FLAKEID_OK) {
            if (filled == 0) {
                flakeid_jni_raise(env, status);
            }
            break; /* the next call fails with the same status */
        }
        (*env)->SetLongArrayRegion(env, ids, from + filled, (jsize)count, (const jlong *)piece);
        filled += (jint)count;
        if (count < most) {
            break;
        }
    }
    return filled;
}

NATIVE(jlong, node)(ENV, jlong generator) {
    uint64_t node = 0;
    (void)class;
    check(env, flakeid_generator_node(HANDLE(flakeid_generator, generator), &node));
    return (jlong)node;
}

NATIVE(jlongArray, nodes)(ENV, jlong generator) {
    /* Most generators have one node, and nearly all have few. */
    uint64_t few[64], *nodes = few;
    size_t room = sizeof few / sizeof *few, count = 0;
    jlongArray made = NULL;
    flakeid_status status;
    (void)class;
    while ((status = flakeid_generator_nodes(HANDLE(flakeid_generator, generator), nodes, room,
                                             &count)) == FLAKEID_BUFFER_TOO_SMALL) {
        room *= 4;
        nodes = realloc(nodes == few ? NULL : nodes, room * sizeof *nodes);
        if (nodes == NULL) {
            abort();
        }
    }
    check(env, status);
    if (status == FLAKEID_OK && (made = (*env)->NewLongArray(env, (jsize)count)) != NULL) {
        (*env)->SetLongArrayRegion(env, made, 0, (jsize)count, (const jlong *)nodes);
    }
    if (nodes != few) {
        free(nodes);
    }
    return made;
}

NATIVE(jstring, layoutOf)(ENV, jlong generator) {
    char text[FLAKEID_DESCRIPTOR_SIZE];
    flakeid_status status =
        flakeid_generator_layout(HANDLE(flakeid_generator, generator), text, sizeof text);
    (void)class;
    check(env, status);
    return status == FLAKEID_OK ? ascii(env, text) : NULL;
}

NATIVE(void, extend)(ENV, jlong generator, jlong fence) {
    (void)class;
    check(env, flakeid_generator_extend(HANDLE(flakeid_generator, generator), (uint64_t)fence));
}

NATIVE(jlong, retire)(ENV, jlong generator) {
    uint64_t tick = FLAKEID_NO_TICK;
    (void)class;
    check(env, flakeid_generator_retire(HANDLE(flakeid_generator, generator), &tick));
    return (jlong)tick;
}

NATIVE(jlongArray, stats)(ENV, jlong generator) {
    flakeid_stats stats = FLAKEID_STATS_INIT;
    flakeid_status status = flakeid_generator_stats(HANDLE(flakeid_generator, generator), &stats);
    (void)class;
    check(env, status);
    if (status == FLAKEID_OK) {
        jlong values[] = {(jlong)stats.waits, (jlong)stats.rollbacks, (jlong)stats.largest_ahead};
        return longs(env, values, 3);
    }
    return NULL;
}
