/* Public IDs. */
#include "native.h"

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
