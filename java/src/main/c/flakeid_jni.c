/* The native methods of io.github.flakeid.Native: each converts its arguments, makes one call of the C library, and
 * converts the result. A failure becomes an exception, and costs nothing where there is none.
 *
 * It is one long file because it is one list: no function here calls another but the few helpers at the top.
 *
 * Texts come as UTF-8 with a NUL at the end, because JNI's own strings are in another encoding. */
#include "flakeid_events.h"

#include <flakeid.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#endif

#define NATIVE(TYPE, NAME) JNIEXPORT TYPE JNICALL Java_io_github_flakeid_Native_##NAME
#define ENV JNIEnv *env, jclass class

/* Weak, because the library outlives the class loader that loaded it: a reference to a class of it would keep all its
 * classes for ever. */
static jweak exception_class;
static jmethodID exception_of;

/* Its threads may still be running when its class loader is collected. Elsewhere the linker is told the same. */
static int stays_loaded(void) {
#ifdef _WIN32
    HMODULE library;
    return GetModuleHandleExW(
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
        (LPCWSTR)(void *)&exception_class, &library);
#else
    return 1;
#endif
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved) {
    JNIEnv *env;
    jclass found;
    (void)reserved;
    if (!stays_loaded()) {
        return JNI_ERR;
    }
    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_10) != JNI_OK) {
        return JNI_ERR;
    }
    found = (*env)->FindClass(env, "io/github/flakeid/FlakeidException");
    if (found == NULL) {
        return JNI_ERR;
    }
    exception_class = (*env)->NewWeakGlobalRef(env, found);
    exception_of = (*env)->GetStaticMethodID(
        env, found, "of", "(I[B[BJJJ)Lio/github/flakeid/FlakeidException;");
    return exception_class == NULL || exception_of == NULL ? JNI_ERR : JNI_VERSION_10;
}

/* The bytes of a text, without its NUL; NULL for NULL, or with an exception pending. */
static jbyteArray bytes_of(JNIEnv *env, const char *text) {
    jsize length;
    jbyteArray bytes;
    if (text == NULL) {
        return NULL;
    }
    length = (jsize)strlen(text);
    bytes = (*env)->NewByteArray(env, length);
    if (bytes != NULL) {
        (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
    }
    return bytes;
}

/* Leaves an exception pending if the call failed; its place is not among what is quick. */
#if defined(__GNUC__)
__attribute__((noinline, cold))
#endif
static void raise_failure(JNIEnv *env, flakeid_status status) {
    jbyteArray message = bytes_of(env, flakeid_last_error());
    jbyteArray field = message == NULL ? NULL : bytes_of(env, flakeid_last_error_field());
    /* It is there: Native, of the same class loader, is calling. */
    jclass class = message == NULL ? NULL : (*env)->NewLocalRef(env, exception_class);
    jobject made;
    if (class == NULL) {
        return; /* out of memory, which is pending */
    }
    made = (*env)->CallStaticObjectMethod(env, class, exception_of, (jint)status, message,
                                          field, (jlong)flakeid_retry_after_ms(),
                                          (jlong)flakeid_rollback_ms(), (jlong)flakeid_horizon_ms());
    if (!(*env)->ExceptionCheck(env) && made != NULL) {
        (*env)->Throw(env, made);
    }
}

static void check(JNIEnv *env, flakeid_status status) {
    if (status != FLAKEID_OK) {
        raise_failure(env, status);
    }
}

/* A copy of a text, which is the caller's to free; NULL for null. */
static char *text_of(JNIEnv *env, jbyteArray bytes) {
    jsize length;
    char *text;
    if (bytes == NULL) {
        return NULL;
    }
    length = (*env)->GetArrayLength(env, bytes);
    text = malloc((size_t)length + 1);
    if (text == NULL) {
        abort(); /* as the library does when there is no memory */
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)text);
    text[length] = '\0';
    return text;
}

/* ASCII, which all encodings share. */
static jstring ascii(JNIEnv *env, const char *text) { return (*env)->NewStringUTF(env, text); }

#define HANDLE(TYPE, VALUE) ((TYPE *)(intptr_t)(VALUE))

/* Generators. The order of `n` is that of Native's constants. */

NATIVE(jlong, generatorNew)(ENV, jbyteArray layout, jbyteArray clock_name, jlong clock, jint has,
                            jlongArray numbers, jlongArray nodes) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *made = NULL;
    jlong n[12];
    char *layout_text = text_of(env, layout), *clock_text = text_of(env, clock_name);
    jlong *node_numbers = NULL;
    (void)class;
    (*env)->GetLongArrayRegion(env, numbers, 0, 12, n);
    config.has = (uint32_t)has;
    config.layout = layout_text;
    config.clock_name = clock_text;
    config.clock = HANDLE(const flakeid_manual_clock, clock);
    config.node = (uint64_t)n[0];
    config.datacenter = (uint64_t)n[1];
    config.worker = (uint64_t)n[2];
    config.epoch = n[3];
    config.sequence_mask = (uint64_t)n[4];
    config.sequence_start = (uint32_t)n[5];
    config.overflow = (int32_t)n[6];
    config.rollback = (int32_t)n[7];
    config.max_ahead_ms = (uint64_t)n[8];
    config.max_wait_ms = (uint64_t)n[9];
    config.window_start = (uint64_t)n[10];
    config.window_fence = (uint64_t)n[11];
    if (nodes != NULL) {
        node_numbers = (*env)->GetLongArrayElements(env, nodes, NULL);
        config.nodes = (const uint64_t *)node_numbers;
        config.node_count = (size_t)(*env)->GetArrayLength(env, nodes);
    }
    check(env, flakeid_generator_new(&config, &made));
    if (node_numbers != NULL) {
        (*env)->ReleaseLongArrayElements(env, nodes, node_numbers, JNI_ABORT);
    }
    free(layout_text);
    free(clock_text);
    return (jlong)(intptr_t)made;
}

NATIVE(jlong, generatorOpen)(ENV, jbyteArray url, jbyteArray layout, jbyteArray namespace_name,
                             jbyteArray name, jbyteArray clock_name, jint has, jlongArray numbers,
                             jlong listener) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    flakeid_generator *made = NULL;
    jlong n[15];
    char *texts[5];
    int index;
    (void)class;
    texts[0] = text_of(env, url);
    texts[1] = text_of(env, layout);
    texts[2] = text_of(env, namespace_name);
    texts[3] = text_of(env, name);
    texts[4] = text_of(env, clock_name);
    (*env)->GetLongArrayRegion(env, numbers, 0, 15, n);
    config.has = (uint32_t)has;
    config.layout = texts[1];
    config.namespace_name = texts[2];
    config.name = texts[3];
    config.clock_name = texts[4];
    config.node = (uint64_t)n[0];
    config.datacenter = (uint64_t)n[1];
    config.worker = (uint64_t)n[2];
    config.epoch = n[3];
    config.sequence_mask = (uint64_t)n[4];
    config.sequence_start = (uint32_t)n[5];
    config.overflow = (int32_t)n[6];
    config.rollback = (int32_t)n[7];
    config.first_node = (uint64_t)n[8];
    config.max_wait_ms = (uint64_t)n[9];
    config.last_node = (uint64_t)n[10];
    config.window_ms = (uint64_t)n[11];
    config.ttl_ms = (uint64_t)n[12];
    config.never_reuse = (int32_t)n[13];
    config.node_count = (uint32_t)n[14];
    if (listener != 0) {
        config.on_event = flakeid_jni_event;
        config.user_data = HANDLE(void, listener);
    }
    check(env, flakeid_generator_open(texts[0], &config, &made));
    for (index = 0; index < 5; index++) {
        free(texts[index]);
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
    check(env, flakeid_generator_next(HANDLE(flakeid_generator, generator), &id));
    return (jlong)id;
}

NATIVE(jlong, tryNext)(ENV, jlong generator) {
    uint64_t id = 0;
    (void)class;
    check(env, flakeid_generator_try_next(HANDLE(flakeid_generator, generator), &id));
    return (jlong)id;
}

/* For the foreign-function interface, which calls it while the garbage collector waits: without waiting, and -1 instead of
 * an exception. */
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

/* In pieces, because a call may wait, which it must not while it has the array itself. */
NATIVE(jint, fill)(ENV, jlong generator, jlongArray ids, jint from, jint to, jboolean waits) {
    flakeid_generator *handle = HANDLE(flakeid_generator, generator);
    uint64_t piece[512];
    jint filled = 0;
    (void)class;
    while (filled < to - from) {
        jint wanted = to - from - filled;
        size_t count = 0;
        size_t most = (size_t)(wanted < 512 ? wanted : 512);
        flakeid_status status = waits ? flakeid_generator_fill(handle, piece, most, &count)
                                      : flakeid_generator_try_fill(handle, piece, most, &count);
        if (status != FLAKEID_OK) {
            if (filled == 0) {
                raise_failure(env, status);
            }
            break; /* the next call meets the obstacle again */
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

static jlongArray longs(JNIEnv *env, const jlong *values, jsize count) {
    jlongArray made = (*env)->NewLongArray(env, count);
    if (made != NULL) {
        (*env)->SetLongArrayRegion(env, made, 0, count, values);
    }
    return made;
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

NATIVE(jlongArray, lease)(ENV, jlong generator) {
    flakeid_lease_status lease = FLAKEID_LEASE_STATUS_INIT;
    flakeid_status status = flakeid_generator_lease(HANDLE(flakeid_generator, generator), &lease);
    (void)class;
    check(env, status);
    if (status == FLAKEID_OK) {
        jlong values[] = {lease.fenced_off,
                          (jlong)lease.start,
                          (jlong)lease.fence,
                          lease.fence_unix_ms,
                          lease.expires_unix_ms,
                          lease.expires_in_ms,
                          (jlong)lease.renewals,
                          (jlong)lease.grants,
                          (jlong)lease.failures,
                          lease.last_error};
        return longs(env, values, 10);
    }
    return NULL;
}

/* Local handles and rings. */

NATIVE(jlong, localOpen)(ENV, jlong generator) {
    flakeid_local *made = NULL;
    (void)class;
    check(env, flakeid_local_open(HANDLE(flakeid_generator, generator), &made));
    return (jlong)(intptr_t)made;
}

NATIVE(jlong, localNext)(ENV, jlong local) {
    uint64_t id = 0;
    (void)class;
    check(env, flakeid_local_next(HANDLE(flakeid_local, local), &id));
    return (jlong)id;
}

NATIVE(void, localFree)(ENV, jlong local) {
    (void)env, (void)class;
    flakeid_local_free(HANDLE(flakeid_local, local));
}

NATIVE(jlong, cachedOpen)(ENV, jlong generator, jint has, jint boost_power, jint padding_factor,
                          jlong refill_interval_ms, jlong max_age_ms) {
    flakeid_ring_config config = FLAKEID_RING_CONFIG_INIT;
    flakeid_cached *made = NULL;
    (void)class;
    config.has = (uint32_t)has;
    config.boost_power = (uint32_t)boost_power;
    config.padding_factor = (uint32_t)padding_factor;
    config.refill_interval_ms = (uint64_t)refill_interval_ms;
    config.max_age_ms = (uint64_t)max_age_ms;
    check(env, flakeid_cached_open(HANDLE(flakeid_generator, generator), &config, &made));
    return (jlong)(intptr_t)made;
}

NATIVE(jlong, cachedNext)(ENV, jlong cached) {
    uint64_t id = 0;
    (void)class;
    check(env, flakeid_cached_next(HANDLE(flakeid_cached, cached), &id));
    return (jlong)id;
}

/* As next_or_none. Taking may begin a new ring of a lease, which waits, so this polls. */
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

/* Clocks for tests. */

NATIVE(jlong, clockNew)(ENV, jlong unix_ms) {
    flakeid_manual_clock *made = NULL;
    (void)class;
    check(env, flakeid_manual_clock_new(unix_ms, &made));
    return (jlong)(intptr_t)made;
}

NATIVE(void, clockSet)(ENV, jlong clock, jlong unix_ms) {
    (void)class;
    check(env, flakeid_manual_clock_set(HANDLE(flakeid_manual_clock, clock), unix_ms));
}

NATIVE(jlong, clockGet)(ENV, jlong clock) {
    int64_t unix_ms = 0;
    (void)class;
    check(env, flakeid_manual_clock_get(HANDLE(flakeid_manual_clock, clock), &unix_ms));
    return unix_ms;
}

NATIVE(void, clockFree)(ENV, jlong clock) {
    (void)env, (void)class;
    flakeid_manual_clock_free(HANDLE(flakeid_manual_clock, clock));
}

/* Layouts. */

NATIVE(jobjectArray, presets)(ENV) {
    size_t count = flakeid_preset_count(), index;
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray names = string == NULL ? NULL : (*env)->NewObjectArray(env, (jsize)count, string, NULL);
    (void)class;
    for (index = 0; names != NULL && index < count; index++) {
        jstring name = ascii(env, flakeid_preset_name(index));
        if (name == NULL) {
            return NULL;
        }
        (*env)->SetObjectArrayElement(env, names, (jsize)index, name);
    }
    return names;
}

NATIVE(jstring, descriptor)(ENV, jbyteArray layout) {
    char text[FLAKEID_DESCRIPTOR_SIZE], *given = text_of(env, layout);
    flakeid_status status = flakeid_layout_descriptor(given, text, sizeof text);
    (void)class;
    check(env, status);
    free(given);
    return status == FLAKEID_OK ? ascii(env, text) : NULL;
}

NATIVE(jlongArray, layoutInfo)(ENV, jbyteArray layout) {
    flakeid_layout_info info = FLAKEID_LAYOUT_INFO_INIT;
    char *given = text_of(env, layout);
    flakeid_status status = flakeid_layout_get_info(given, &info);
    (void)class;
    check(env, status);
    free(given);
    if (status == FLAKEID_OK) {
        jlong values[] = {info.width,
                          info.epoch,
                          (jlong)info.unit_ms,
                          (jlong)info.max_tick,
                          (jlong)info.max_node,
                          (jlong)info.max_datacenter,
                          (jlong)info.max_worker,
                          (jlong)info.max_clock_sequence,
                          (jlong)info.max_sequence,
                          (jlong)info.ids_per_tick,
                          info.horizon,
                          info.fits_i64_until,
                          info.is_split,
                          info.can_generate,
                          info.fits_f64};
        return longs(env, values, 15);
    }
    return NULL;
}

static jlongArray parts_array(JNIEnv *env, flakeid_status status, const flakeid_parts *parts) {
    check(env, status);
    if (status == FLAKEID_OK) {
        jlong values[] = {(jlong)parts->tick,           parts->unix_ms,
                          (jlong)parts->node,           (jlong)parts->datacenter,
                          (jlong)parts->worker,         (jlong)parts->clock_sequence,
                          (jlong)parts->sequence,       parts->has};
        return longs(env, values, 8);
    }
    return NULL;
}

NATIVE(jlongArray, decode)(ENV, jbyteArray layout, jlong id) {
    flakeid_parts parts;
    char *given = text_of(env, layout);
    flakeid_status status = flakeid_decode(given, (uint64_t)id, &parts);
    (void)class;
    free(given);
    return parts_array(env, status, &parts);
}

NATIVE(jlongArray, partsAt)(ENV, jbyteArray layout, jlong unix_ms) {
    flakeid_parts parts;
    char *given = text_of(env, layout);
    flakeid_status status = flakeid_parts_at(given, unix_ms, &parts);
    (void)class;
    free(given);
    return parts_array(env, status, &parts);
}

NATIVE(jlong, pack)(ENV, jbyteArray layout, jlongArray fields) {
    flakeid_parts parts;
    jlong n[8];
    uint64_t id = 0;
    char *given = text_of(env, layout);
    (void)class;
    memset(&parts, 0, sizeof parts);
    (*env)->GetLongArrayRegion(env, fields, 0, 8, n);
    parts.tick = (uint64_t)n[0];
    parts.unix_ms = n[1];
    parts.node = (uint64_t)n[2];
    parts.datacenter = (uint64_t)n[3];
    parts.worker = (uint64_t)n[4];
    parts.clock_sequence = (uint64_t)n[5];
    parts.sequence = (uint64_t)n[6];
    parts.has = (uint32_t)n[7];
    check(env, flakeid_pack(given, &parts, &id));
    free(given);
    return (jlong)id;
}

NATIVE(jlong, joinNode)(ENV, jbyteArray layout, jlong datacenter, jlong worker) {
    uint64_t node = 0;
    char *given = text_of(env, layout);
    (void)class;
    check(env, flakeid_join_node(given, (uint64_t)datacenter, (uint64_t)worker, &node));
    free(given);
    return (jlong)node;
}

NATIVE(jlong, unixMsAt)(ENV, jbyteArray layout, jlong tick) {
    int64_t unix_ms = 0;
    char *given = text_of(env, layout);
    (void)class;
    check(env, flakeid_unix_ms_at(given, (uint64_t)tick, &unix_ms));
    free(given);
    return unix_ms;
}

NATIVE(jstring, timestamp)(ENV, jbyteArray layout, jlong unix_ms) {
    char text[FLAKEID_TIMESTAMP_SIZE], *given = text_of(env, layout);
    flakeid_status status = flakeid_timestamp(given, unix_ms, text, sizeof text);
    (void)class;
    check(env, status);
    free(given);
    return status == FLAKEID_OK ? ascii(env, text) : NULL;
}

NATIVE(jlong, bound)(ENV, jbyteArray layout, jlong unix_ms, jboolean upper) {
    uint64_t id = 0;
    char *given = text_of(env, layout);
    (void)class;
    check(env, upper ? flakeid_upper_bound(given, unix_ms, &id) : flakeid_lower_bound(given, unix_ms, &id));
    free(given);
    return (jlong)id;
}

/* Text forms, in the order of TextForm. */

static flakeid_status (*const encoders[])(uint64_t, char *, size_t) = {
    flakeid_to_decimal, flakeid_to_base32, flakeid_to_base36,
    flakeid_to_base58,  flakeid_to_base62, flakeid_to_hex,
    flakeid_to_base58_flickr, flakeid_to_zbase32};
static flakeid_status (*const decoders[])(const char *, uint64_t *) = {
    flakeid_from_decimal, flakeid_from_base32, flakeid_from_base36,
    flakeid_from_base58,  flakeid_from_base62, flakeid_from_hex,
    flakeid_from_base58_flickr, flakeid_from_zbase32};

NATIVE(jstring, encode)(ENV, jint form, jlong id) {
    char text[FLAKEID_TEXT_SIZE];
    flakeid_status status = encoders[form]((uint64_t)id, text, sizeof text);
    (void)class;
    check(env, status);
    return status == FLAKEID_OK ? ascii(env, text) : NULL;
}

NATIVE(jlong, parse)(ENV, jint form, jbyteArray text) {
    uint64_t id = 0;
    char *given = text_of(env, text);
    (void)class;
    check(env, decoders[form](given, &id));
    free(given);
    return (jlong)id;
}

/* Public IDs. */

NATIVE(jlong, publicIdsNew)(ENV, jbyteArray keyring, jbyteArray domain, jbyteArray layout,
                            jbyteArray prefix, jboolean has_since, jlong since) {
    flakeid_public_ids *made = NULL;
    int64_t since_ms = since;
    char *texts[4];
    int index;
    (void)class;
    texts[0] = text_of(env, keyring);
    texts[1] = text_of(env, domain);
    texts[2] = text_of(env, layout);
    texts[3] = text_of(env, prefix);
    check(env, flakeid_public_ids_new(texts[0], texts[1], texts[2], texts[3],
                                      has_since ? &since_ms : NULL, &made));
    for (index = 0; index < 4; index++) {
        free(texts[index]);
    }
    return (jlong)(intptr_t)made;
}

NATIVE(jstring, seal)(ENV, jlong ids, jlong id) {
    char text[FLAKEID_PUBLIC_ID_SIZE];
    flakeid_status status =
        flakeid_public_ids_seal(HANDLE(flakeid_public_ids, ids), (uint64_t)id, text, sizeof text);
    (void)class;
    check(env, status);
    return status == FLAKEID_OK ? ascii(env, text) : NULL;
}

NATIVE(jlong, sealBits)(ENV, jlong ids, jlong id) {
    uint64_t bits = 0;
    (void)class;
    check(env, flakeid_public_ids_seal_bits(HANDLE(flakeid_public_ids, ids), (uint64_t)id, &bits));
    return (jlong)bits;
}

NATIVE(jlong, openPublic)(ENV, jlong ids, jbyteArray text, jboolean has_time, jlong unix_ms) {
    uint64_t id = 0;
    char *given = text_of(env, text);
    (void)class;
    check(env, has_time
                   ? flakeid_public_ids_open_at(HANDLE(flakeid_public_ids, ids), given, unix_ms, &id)
                   : flakeid_public_ids_open(HANDLE(flakeid_public_ids, ids), given, &id));
    free(given);
    return (jlong)id;
}

NATIVE(void, publicIdsFree)(ENV, jlong ids) {
    (void)env, (void)class;
    flakeid_public_ids_free(HANDLE(flakeid_public_ids, ids));
}

/* Errors. */

NATIVE(jstring, codeOf)(ENV, jint status) {
    (void)class;
    return ascii(env, flakeid_status_code(status));
}

NATIVE(jstring, version)(ENV) {
    (void)class;
    return ascii(env, flakeid_version());
}
