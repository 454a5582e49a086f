/* The functions of the text forms, in the order of TextForm. */
#include "native.h"

static flakeid_status (*const encoders[])(uint64_t, char *, size_t) = {
    flakeid_to_decimal, flakeid_to_base32, flakeid_to_base36,
    flakeid_to_base58,  flakeid_to_base62, flakeid_to_hex,
    flakeid_to_base58_flickr, flakeid_to_zbase32, flakeid_to_uuid};
static flakeid_status (*const decoders[])(const char *, uint64_t *) = {
    flakeid_from_decimal, flakeid_from_base32, flakeid_from_base36,
    flakeid_from_base58,  flakeid_from_base62, flakeid_from_hex,
    flakeid_from_base58_flickr, flakeid_from_zbase32, flakeid_from_uuid};

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
