/* The functions for layouts, and for the parts of IDs. */
#include "native.h"

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
