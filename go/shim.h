/* C functions that Go calls. The library keeps the last error for each operating-system thread, and a goroutine can
 * move to another thread between two calls. Each function therefore calls the library and reads the error in a single
 * call. */
#ifndef FLAKEID_GO_SHIM_H
#define FLAKEID_GO_SHIM_H

#include <flakeid.h>
#include <stdlib.h>
#include <string.h>

/* The error of a failed call. Go frees the error. */
typedef struct {
    flakeid_status status;
    int64_t retry_after_ms, rollback_ms, horizon_ms;
    char *field; /* NULL, or a string that follows the message in the same allocation */
    char message[];
} failure;

static failure *failed(flakeid_status status) {
    const char *message, *field;
    size_t length;
    failure *made;
    if (status == FLAKEID_OK) {
        return NULL;
    }
    message = flakeid_last_error_spelled(FLAKEID_SPELLING_GO);
    field = flakeid_last_error_field_spelled(FLAKEID_SPELLING_GO);
    length = strlen(message) + 1;
    made = malloc(sizeof *made + length + (field == NULL ? 0 : strlen(field) + 1));
    if (made == NULL) {
        abort(); /* Memory has run out. Go's runtime also aborts the program in this case. */
    }
    made->status = status;
    made->retry_after_ms = flakeid_retry_after_ms();
    made->rollback_ms = flakeid_rollback_ms();
    made->horizon_ms = flakeid_horizon_ms();
    memcpy(made->message, message, length);
    made->field = field == NULL ? NULL : strcpy(made->message + length, field);
    return made;
}

/* Returns the message. Go needs this function, because Go cannot access arrays without a length, such as `message`. */
static const char *message_of(const failure *of) { return of->message; }

/* Results are returned by value. If Go passed the address of a variable to C, Go would allocate the variable on the
 * heap in each call. */
typedef struct {
    uint64_t id;
    flakeid_status status;
} attempt;

typedef struct {
    uint64_t value;
    failure *failed;
} result;

typedef struct {
    int64_t value;
    failure *failed;
} instant;

typedef struct {
    size_t count;
    failure *failed;
} filled;

/* Takes an ID without waiting. The generator's address is passed as a number. If the address were passed as a pointer
 * to an opaque type, Go would check in each call whether the pointer points into Go's memory. */
static attempt attempt_next(uintptr_t generator) {
    attempt made;
    made.status = flakeid_generator_try_next((const flakeid_generator *)generator, &made.id);
    return made;
}

#define RESULT(TYPE, NAME, FUNCTION, PARAMETERS, ...)                                              \
    static TYPE NAME PARAMETERS {                                                                  \
        TYPE made = {0, NULL};                                                                     \
        made.failed = failed(FUNCTION(__VA_ARGS__));                                               \
        return made;                                                                               \
    }

#define CALL(NAME, FUNCTION, PARAMETERS, ...)                                                      \
    static failure *NAME PARAMETERS { return failed(FUNCTION(__VA_ARGS__)); }

RESULT(result, next_within, flakeid_generator_next_within,
       (const flakeid_generator *g, uint64_t max_wait_ms), g, max_wait_ms, &made.value)
/* Reports whether Go has set a flag. The library calls this function during a wait. */
static int32_t is_set(void *flag) { return __atomic_load_n((const int32_t *)flag, __ATOMIC_RELAXED); }

static result next_until(const flakeid_generator *g, uint64_t max_wait_ms, int32_t *is_over) {
    result made;
    flakeid_set_interrupt(is_set, is_over);
    made = next_within(g, max_wait_ms);
    flakeid_set_interrupt(NULL, NULL);
    return made;
}

RESULT(result, max_wait_of, flakeid_generator_max_wait_ms, (const flakeid_generator *g), g, &made.value)
RESULT(result, try_next, flakeid_generator_try_next, (const flakeid_generator *g), g, &made.value)
RESULT(filled, try_fill, flakeid_generator_try_fill,
       (const flakeid_generator *g, uint64_t *ids, size_t n), g, ids, n, &made.count)
RESULT(result, node_of, flakeid_generator_node, (const flakeid_generator *g), g, &made.value)
RESULT(filled, nodes_of, flakeid_generator_nodes,
       (const flakeid_generator *g, uint64_t *nodes, size_t n), g, nodes, n, &made.count)
RESULT(result, retire, flakeid_generator_retire, (const flakeid_generator *g), g, &made.value)
CALL(extend, flakeid_generator_extend, (const flakeid_generator *g, uint64_t fence), g, fence)
CALL(close_generator, flakeid_generator_close, (const flakeid_generator *g), g)
CALL(stats_of, flakeid_generator_stats, (const flakeid_generator *g, flakeid_stats *stats), g, stats)
CALL(lease_of, flakeid_generator_lease, (const flakeid_generator *g, flakeid_lease_status *status), g,
     status)
CALL(expose, flakeid_generator_expose, (const flakeid_generator *g, flakeid_exposed *exposed), g,
     exposed)
CALL(layout_of, flakeid_generator_layout, (const flakeid_generator *g, char *buffer, size_t size), g,
     buffer, size)

CALL(new_options, flakeid_options_new, (flakeid_options **made), made)
CALL(set_option, flakeid_options_set, (flakeid_options *options, const char *name, const char *text),
     options, name, text)

static failure *new_generator(const flakeid_options *options, const flakeid_manual_clock *clock,
                              flakeid_generator **made) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    config.options = options;
    config.clock = clock;
    return failed(flakeid_generator_new(&config, made));
}

RESULT(instant, clock_now, flakeid_manual_clock_get, (const flakeid_manual_clock *c), c, &made.value)
CALL(new_clock, flakeid_manual_clock_new, (int64_t unix_ms, flakeid_manual_clock **made), unix_ms, made)
CALL(set_clock, flakeid_manual_clock_set, (const flakeid_manual_clock *c, int64_t unix_ms), c, unix_ms)
CALL(advance_clock, flakeid_manual_clock_advance, (const flakeid_manual_clock *c, uint64_t ms), c, ms)

CALL(descriptor, flakeid_layout_descriptor, (const char *layout, char *buffer, size_t size), layout,
     buffer, size)
CALL(layout_info, flakeid_layout_get_info, (const char *layout, flakeid_layout_info *info), layout, info)
CALL(decode, flakeid_decode, (const char *layout, uint64_t id, flakeid_parts *parts), layout, id, parts)
RESULT(result, pack, flakeid_pack, (const char *layout, const flakeid_parts *parts), layout, parts,
       &made.value)
CALL(parts_at, flakeid_parts_at, (const char *layout, int64_t unix_ms, flakeid_parts *parts), layout,
     unix_ms, parts)
RESULT(result, join_node, flakeid_join_node,
       (const char *layout, uint64_t datacenter, uint64_t worker), layout, datacenter, worker,
       &made.value)
RESULT(instant, unix_ms_at, flakeid_unix_ms_at, (const char *layout, uint64_t tick), layout, tick,
       &made.value)
CALL(timestamp, flakeid_timestamp, (const char *layout, int64_t unix_ms, char *buffer, size_t size),
     layout, unix_ms, buffer, size)
RESULT(result, lower_bound, flakeid_lower_bound, (const char *layout, int64_t unix_ms), layout, unix_ms,
       &made.value)
RESULT(result, upper_bound, flakeid_upper_bound, (const char *layout, int64_t unix_ms), layout, unix_ms,
       &made.value)

typedef flakeid_status (*encoder)(uint64_t, char *, size_t);
typedef flakeid_status (*decoder)(const char *, uint64_t *);

/* The encoders and decoders of the text forms. Both arrays have the order of the `Form` constants in Go. */
static const encoder encoders[] = {flakeid_to_decimal, flakeid_to_base32, flakeid_to_base36,
                                   flakeid_to_base58,  flakeid_to_base62, flakeid_to_hex,
                                   flakeid_to_base58_flickr, flakeid_to_zbase32, flakeid_to_uuid};
static const decoder decoders[] = {flakeid_from_decimal, flakeid_from_base32, flakeid_from_base36,
                                   flakeid_from_base58,  flakeid_from_base62, flakeid_from_hex,
                                   flakeid_from_base58_flickr, flakeid_from_zbase32, flakeid_from_uuid};

CALL(to_text, encoders[form], (int form, uint64_t id, char *buffer, size_t size), id, buffer, size)
RESULT(result, from_text, decoders[form], (int form, const char *text), text, &made.value)
RESULT(result, from_bytes, flakeid_from_bytes, (const uint8_t *bytes, size_t size), bytes, size,
       &made.value)
RESULT(result, from_uuid_bytes, flakeid_from_uuid_bytes, (const uint8_t *bytes, size_t size), bytes,
       size, &made.value)

static failure *new_public_ids(const char *keyring, const char *domain, const char *layout,
                               const char *prefix, int has_since, int64_t since_ms,
                               flakeid_public_ids **made) {
    return failed(flakeid_public_ids_new(keyring, domain, layout, prefix, has_since ? &since_ms : NULL,
                                         made));
}

CALL(seal, flakeid_public_ids_seal,
     (const flakeid_public_ids *ids, uint64_t id, char *buffer, size_t size), ids, id, buffer, size)
RESULT(result, seal_bits, flakeid_public_ids_seal_bits, (const flakeid_public_ids *ids, uint64_t id),
       ids, id, &made.value)
RESULT(result, open_public_at, flakeid_public_ids_open_at,
       (const flakeid_public_ids *ids, const char *text, int64_t unix_ms), ids, text, unix_ms,
       &made.value)

/* The Go function that receives lease events. `observer` is a handle that Go created. */
extern void flakeidGoEvent(flakeid_lease_event *event, uintptr_t observer);

static void on_event(const flakeid_lease_event *event, void *observer) {
    flakeidGoEvent((flakeid_lease_event *)event, (uintptr_t)observer);
}

static failure *open_lease(const char *url, const flakeid_options *options, uintptr_t observer,
                           flakeid_generator **made) {
    flakeid_lease_config config = FLAKEID_LEASE_CONFIG_INIT;
    config.options = options;
    if (observer != 0) {
        config.on_event = on_event;
        config.user_data = (void *)observer;
    }
    return failed(flakeid_generator_open(url, &config, made));
}

static result create_namespace(const char *url, const char *name, const flakeid_options *options) {
    flakeid_namespace_config config = FLAKEID_NAMESPACE_CONFIG_INIT;
    result made = {0, NULL};
    config.options = options;
    made.failed = failed(flakeid_create_namespace(url, name, &config, &made.value));
    return made;
}

/* Returns the initial value of the counters. The value is defined as a macro, which Go cannot use. */
static flakeid_stats no_stats(void) {
    flakeid_stats none = FLAKEID_STATS_INIT;
    return none;
}

static flakeid_exposed not_exposed(void) {
    flakeid_exposed none = FLAKEID_EXPOSED_INIT;
    return none;
}

static flakeid_lease_status no_lease_status(void) {
    flakeid_lease_status none = FLAKEID_LEASE_STATUS_INIT;
    return none;
}

static flakeid_layout_info no_layout_info(void) {
    flakeid_layout_info none = FLAKEID_LAYOUT_INFO_INIT;
    return none;
}

#endif
