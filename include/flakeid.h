/* Generated from bindings/c/src by `cargo xtask header`: do not edit.
 *
 * flakeid: 64-bit Snowflake-family IDs, unique and in order, without a round trip.
 *
 *     flakeid_config config = FLAKEID_CONFIG_INIT;
 *     flakeid_generator *generator = NULL;
 *     uint64_t id = 0;
 *     config.has = FLAKEID_HAS_NODE;
 *     config.node = 7;
 *     if (flakeid_generator_new(&config, &generator) != FLAKEID_OK ||
 *         flakeid_generator_next(generator, &id) != FLAKEID_OK) {
 *         fprintf(stderr, "%s\n", flakeid_last_error());
 *     }
 *     flakeid_generator_free(generator);
 *
 * Conventions
 *
 * - C99. Functions that can fail return a flakeid_status: FLAKEID_OK (0) or the number of an
 *   error, which is the same in every release. The comment of each function lists its errors.
 *   Every such function may also return FLAKEID_PANIC, if the library caught an internal error.
 * - Inputs come first, outputs last. Outputs are written only on success, except the count of a
 *   fill, which is always written.
 * - A required pointer that is NULL causes FLAKEID_NULL_ARGUMENT. Other pointers must be valid and
 *   aligned for their type, and outputs must not overlap.
 * - Strings are UTF-8 and NUL-terminated; the length of an input is its strlen. A buffer that is
 *   too small causes FLAKEID_BUFFER_TOO_SMALL, and the last error states the required size.
 * - `layout` is a preset's name ("twitter", "sonyflake", ...) or a descriptor
 *   ("t41.n10.s12@1288834974657/1ms"); NULL means the default, "twitter".
 * - Structs that may grow start with struct_size, which the program sets (by the _INIT macro).
 *   The library reads and writes at most struct_size bytes. Fields that an older program lacks
 *   have their default. Fields that a newer program sets, but an older library does not know,
 *   cause FLAKEID_INVALID_OPTION. Fields that an older library cannot fill become 0.
 * - The caller that receives a handle owns the handle and must free it with the handle's _free
 *   function.
 * - "Thread-safe" means that any number of threads may call the function at the same time, even
 *   with the same handle.
 * - fork: in the child, generators of the parent return FLAKEID_FORKED. Create new generators with
 *   other nodes in the child. Generators that flakeid_generator_open() created continue in the
 *   child with another node. Local handles and rings continue or fail like their generators.
 * - Signals and cancellation: a signal handler must not call the library, whose calls may wait for
 *   a lock that the interrupted thread holds. A thread must not be cancelled (pthread_cancel) during
 *   a call, which would abort the process: disable cancellation with pthread_setcancelstate(), and
 *   end waits with flakeid_set_interrupt().
 * - Each thread has its own last error, which flakeid_last_error() and the related functions read.
 * - Two copies of the library in one process (such as a shared and a static one) share no state:
 *   give their generators different nodes.
 */


#ifndef FLAKEID_H
#define FLAKEID_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header. */
#define FLAKEID_VERSION "0.1.0"

/* A flakeid_config without options. The program must still set a node. */
#define FLAKEID_CONFIG_INIT \
    {sizeof(flakeid_config), 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, \
     NULL, 0, NULL}

/* A flakeid_lease_config without options, for any free node of the namespace "default". */
#define FLAKEID_LEASE_CONFIG_INIT \
    {sizeof(flakeid_lease_config), 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
     NULL, NULL, NULL, 0, 0, NULL, 0}

/* A flakeid_ring_config without options, for a ring with the defaults. */
#define FLAKEID_RING_CONFIG_INIT \
    {sizeof(flakeid_ring_config), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL}

/* A flakeid_namespace_config without options, for a namespace with the defaults. */
#define FLAKEID_NAMESPACE_CONFIG_INIT \
    {sizeof(flakeid_namespace_config), 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL}

#define FLAKEID_LEASE_STATUS_INIT {sizeof(flakeid_lease_status), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

#define FLAKEID_STATS_INIT {sizeof(flakeid_stats), 0, 0, 0, 0}

#define FLAKEID_EXPOSED_INIT {sizeof(flakeid_exposed), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

#define FLAKEID_RING_STATS_INIT {sizeof(flakeid_ring_stats), 0, 0, 0, 0, 0, 0, 0, 0}

#define FLAKEID_LAYOUT_INFO_INIT \
    {sizeof(flakeid_layout_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * The version number of the binary interface (ABI) that this header describes. The number changes
 * only when programs must be recompiled. Structs may grow at their end without a new version
 * number (see struct_size).
 */
#define FLAKEID_ABI_VERSION 1

/**
 * The spelling of names in C, such as `max_wait_ms`, for flakeid_last_error_spelled().
 */
#define FLAKEID_SPELLING_C 0

/**
 * The spelling of names in C++, such as `max_wait`, for flakeid_last_error_spelled().
 */
#define FLAKEID_SPELLING_CPP 1

/**
 * The spelling of names in Go, such as `WithMaxWait`, for flakeid_last_error_spelled().
 */
#define FLAKEID_SPELLING_GO 2

/**
 * The spelling of names in Java, such as `maxWait`, for flakeid_last_error_spelled().
 */
#define FLAKEID_SPELLING_JAVA 3

/**
 * The flag in `has` for the `node` field.
 */
#define FLAKEID_HAS_NODE 1

/**
 * The flag in `has` for the `datacenter` field.
 */
#define FLAKEID_HAS_DATACENTER 2

/**
 * The flag in `has` for the `worker` field.
 */
#define FLAKEID_HAS_WORKER 4

/**
 * The flag in `has` for the `epoch` field.
 */
#define FLAKEID_HAS_EPOCH 8

/**
 * The flag in `has` for the `sequence_mask` field.
 */
#define FLAKEID_HAS_SEQUENCE_MASK 16

/**
 * The flag in `has` for the `max_ahead_ms` field.
 */
#define FLAKEID_HAS_MAX_AHEAD 32

/**
 * The flag in `has` for the `max_wait_ms` field.
 */
#define FLAKEID_HAS_MAX_WAIT 64

/**
 * The flag in `has` for the `window_start` and `window_fence` fields.
 */
#define FLAKEID_HAS_WINDOW 128

/**
 * The flag in `has` for the `first_node` and `last_node` fields.
 */
#define FLAKEID_HAS_NODES 256

/**
 * The flag in `has` for the `window_ms` field.
 */
#define FLAKEID_HAS_WINDOW_MS 512

/**
 * The flag in `has` for the `ttl_ms` field.
 */
#define FLAKEID_HAS_TTL 1024

/**
 * The flag in `has` for the `boost_power` field.
 */
#define FLAKEID_HAS_BOOST_POWER 2048

/**
 * The flag in `has` for the `padding_factor` field.
 */
#define FLAKEID_HAS_PADDING_FACTOR 4096

/**
 * The flag in `has` for the `refill_interval_ms` field.
 */
#define FLAKEID_HAS_REFILL_INTERVAL 8192

/**
 * The flag in `has` for the `max_age_ms` field.
 */
#define FLAKEID_HAS_MAX_AGE 16384

/**
 * The flag in `has` for the `max_window_ms` field.
 */
#define FLAKEID_HAS_MAX_WINDOW 32768

/**
 * The flag in `has` for the `max_skew_ms` field.
 */
#define FLAKEID_HAS_MAX_SKEW 65536

/**
 * The flag in `has` for the `quiet_ms` field.
 */
#define FLAKEID_HAS_QUIET 131072

/**
 * The flag in `has` for the `open_wait_ms` field.
 */
#define FLAKEID_HAS_OPEN_WAIT 262144

/**
 * The default. When a tick is full, calls that may wait, such as flakeid_generator_next(), wait
 * for the next tick.
 */
#define FLAKEID_OVERFLOW_WAIT 0

/**
 * When a tick is full, calls fail immediately with FLAKEID_SEQUENCE_EXHAUSTED.
 */
#define FLAKEID_OVERFLOW_ERROR 1

/**
 * When a tick is full, calls issue IDs from the following ticks, which are at most max_ahead_ms
 * ahead of the clock. Requires a window.
 */
#define FLAKEID_OVERFLOW_BORROW 2

/**
 * The default. When the clock goes backwards, calls continue to issue IDs from the latest tick
 * until that tick is full, and then wait for at most max_wait_ms.
 */
#define FLAKEID_ROLLBACK_CONTINUE 0

/**
 * When the clock goes backwards, calls fail immediately with FLAKEID_CLOCK_ROLLBACK.
 */
#define FLAKEID_ROLLBACK_ERROR 1

/**
 * When the clock goes backwards, calls wait until the clock catches up, but for at most
 * max_wait_ms.
 */
#define FLAKEID_ROLLBACK_WAIT 2

/**
 * When the clock goes backwards, the generator switches to a clock sequence that it has not yet
 * used for the current time. Requires a layout with clock-sequence bits, and cannot be combined
 * with a window.
 */
#define FLAKEID_ROLLBACK_CLOCK_SEQUENCE 3

/**
 * The value that flakeid_generator_retire() writes for a generator that has issued no ID. No tick
 * has this value.
 */
#define FLAKEID_NO_TICK UINT64_MAX

/**
 * A node was granted.
 */
#define FLAKEID_LEASE_ACQUIRED 1

/**
 * The store confirmed a renewal, which raised the fence.
 */
#define FLAKEID_LEASE_RENEWED 2

/**
 * The generator loses its node at the fence, usually because another process has taken over the
 * node. The generator then requests a node again, unless its node is fixed and another process has
 * taken over that node.
 */
#define FLAKEID_LEASE_FENCED_OFF 3

/**
 * The store refused a request.
 */
#define FLAKEID_LEASE_REFUSED 4

/**
 * The store does not respond. The generator continues to issue IDs until the fence.
 */
#define FLAKEID_LEASE_STORE_LOST 5

/**
 * The store responds again.
 */
#define FLAKEID_LEASE_STORE_FOUND 6

/**
 * This host's clock and the store's clock are too far apart.
 */
#define FLAKEID_LEASE_CLOCK_SKEW 7

/**
 * The node was released.
 */
#define FLAKEID_LEASE_RELEASED 8

/**
 * The size, in bytes, of a buffer that can hold the canonical descriptor of any layout, including
 * the final NUL.
 */
#define FLAKEID_DESCRIPTOR_SIZE 128

/**
 * The size, in bytes, of a buffer that can hold any timestamp, including the final NUL.
 */
#define FLAKEID_TIMESTAMP_SIZE 32

/**
 * The size, in bytes, of a buffer that can hold an ID in any text form, including the final NUL.
 */
#define FLAKEID_TEXT_SIZE 37

/**
 * The size, in bytes, of a buffer that can hold any public ID, including the final NUL.
 */
#define FLAKEID_PUBLIC_ID_SIZE 30

/**
 * A ring of IDs that a library thread generates in advance, so that taking an ID is several times
 * faster than generating one. The IDs of a ring are unique, and strictly increase across all
 * threads that take from the ring. IDs from the ring and IDs that the generator issues directly
 * are not ordered relative to each other. A ring is faster than its generator only in bursts or
 * below the layout's maximum rate, because the ring never contains more IDs than the generator may
 * issue. The ring returns no ID that is older than max_age_ms. Any number of threads may call
 * every function except flakeid_cached_free() at the same time. In a forked child, the ring works
 * only if its generator works, and returns no ID that the parent generated.
 */
typedef struct flakeid_cached flakeid_cached;

/**
 * A clock for tests of code that generates IDs. The clock moves only when the program sets or
 * advances it, or when a call waits: instead of sleeping, the call moves the clock forward.
 */
typedef struct flakeid_manual_clock flakeid_manual_clock;

/**
 * A generator of IDs for one or several nodes. The IDs are unique. The IDs also strictly increase
 * across all threads, unless the generator uses FLAKEID_ROLLBACK_CLOCK_SEQUENCE. Within a process,
 * all generators with the same layout and node take their IDs from one shared sequence. Any number
 * of threads may call every function except flakeid_generator_free() at the same time. In a forked
 * child, generators of the parent fail with FLAKEID_FORKED. The exceptions are generators that
 * flakeid_generator_open() created, which lease another node in the child. All generators may be
 * freed in the child.
 */
typedef struct flakeid_generator flakeid_generator;

/**
 * A handle through which one thread takes IDs several times faster than from the generator itself,
 * because the handle reserves IDs in chunks. The IDs of one handle strictly increase. No ID is
 * issued twice, by the same handle or by different handles. The IDs of different handles are not
 * ordered. The time in an ID is never ahead of the clock, and lags behind the clock by at most one
 * tick of the kernel's coarse clock, which is a few milliseconds.
 *
 * Only one thread at a time may use a handle: open a separate handle for each thread, or let
 * threads take turns. In a forked child, a handle works or fails like its generator.
 */
typedef struct flakeid_local flakeid_local;

/**
 * A list of options that are set by name. Each option consists of two strings: a name and a value.
 * The list is for programs that read options from a file, and for bindings to other languages. The
 * field `options` of flakeid_config, flakeid_lease_config, flakeid_ring_config and
 * flakeid_namespace_config points to a list of this type.
 */
typedef struct flakeid_options flakeid_options;

/**
 * A converter between the IDs of one domain (a kind of object, such as "user") and their public
 * form. The public form is encrypted, so it reveals neither the parts of an ID nor the number of
 * IDs. Public IDs hide IDs but do not authorise access: in rare cases, a random string is accepted
 * as a public ID. Thread-safe.
 */
typedef struct flakeid_public_ids flakeid_public_ids;

/**
 * The result of a call: 0 is success, and every other number is an error. Numbers are never
 * reused.
 */
typedef int32_t flakeid_status;

/**
 * The options of a generator. The node has no default, so the program must set either one node, or
 * both a datacenter and a worker, or several nodes. Initialize the struct with FLAKEID_CONFIG_INIT,
 * or zero it and set struct_size. Then set the fields that you need. For each field that has a
 * flag, also set the flag in `has`. A nonzero field without its flag causes FLAKEID_INVALID_OPTION,
 * so the library never silently ignores a nonzero field.
 */
typedef struct flakeid_config {
    /**
     * The size of the struct: sizeof(flakeid_config).
     */
    uint32_t struct_size;
    /**
     * The FLAKEID_HAS_... flags of the fields that are set.
     */
    uint32_t has;
    /**
     * The layout of the IDs: a preset's name or a descriptor; NULL means "twitter".
     */
    const char *layout;
    /**
     * The node, from 0 to the layout's largest node; there is no default, because no other
     * generator may use the same node at the same time. This field requires the flag
     * FLAKEID_HAS_NODE.
     */
    uint64_t node;
    /**
     * The high part of the node, in layouts that split the node; must be set together with worker.
     * This field requires the flag FLAKEID_HAS_DATACENTER.
     */
    uint64_t datacenter;
    /**
     * The low part of the node, in layouts that split the node; must be set together with
     * datacenter. This field requires the flag FLAKEID_HAS_WORKER.
     */
    uint64_t worker;
    /**
     * The instant of tick 0, in Unix milliseconds. This field requires the flag FLAKEID_HAS_EPOCH;
     * the default is the layout's epoch.
     */
    int64_t epoch;
    /**
     * The largest sequence number to use, which must have the form 2^k - 1. This field requires
     * the flag FLAKEID_HAS_SEQUENCE_MASK; the default is the layout's largest sequence number.
     */
    uint64_t sequence_mask;
    /**
     * The number of random bits in the first sequence number of each tick.
     */
    uint32_t sequence_start;
    /**
     * The behaviour when a tick has no IDs left: FLAKEID_OVERFLOW_WAIT, FLAKEID_OVERFLOW_ERROR or
     * FLAKEID_OVERFLOW_BORROW (default: FLAKEID_OVERFLOW_WAIT). FLAKEID_OVERFLOW_BORROW requires a
     * window.
     */
    int32_t overflow;
    /**
     * The behaviour when the clock goes backwards: FLAKEID_ROLLBACK_CONTINUE,
     * FLAKEID_ROLLBACK_ERROR, FLAKEID_ROLLBACK_WAIT or FLAKEID_ROLLBACK_CLOCK_SEQUENCE (default:
     * FLAKEID_ROLLBACK_CONTINUE).
     */
    int32_t rollback;
    /**
     * Reserved; must be 0.
     */
    uint32_t reserved;
    /**
     * The longest time by which IDs in a window may be ahead of the clock. This field requires the
     * flag FLAKEID_HAS_MAX_AHEAD; the default is 20 s.
     */
    uint64_t max_ahead_ms;
    /**
     * The longest time that a call waits without issuing an ID. This field requires the flag
     * FLAKEID_HAS_MAX_WAIT; the default is 1 s or two ticks, whichever is longer.
     */
    uint64_t max_wait_ms;
    /**
     * NULL, or a manual clock for tests. A manual clock cannot be combined with clock_name. The
     * generator keeps its own reference to the clock.
     */
    const struct flakeid_manual_clock *clock;
    /**
     * The first tick in which the generator may issue IDs. This field requires the flag
     * FLAKEID_HAS_WINDOW.
     */
    uint64_t window_start;
    /**
     * The tick after the last tick in which the generator may issue IDs. This field requires the
     * flag FLAKEID_HAS_WINDOW.
     */
    uint64_t window_fence;
    /**
     * The clock: "gated", "system" or "coarse"; NULL means "gated". With "gated", the time is
     * exact, and on suitable processors the system clock is read only a few times per millisecond.
     * With "system", the system clock is read for every ID. With "coarse", the time lags behind
     * the system clock by a few milliseconds, and is never ahead of the system clock.
     */
    const char *clock_name;
    /**
     * NULL, or several different nodes instead of one. The number of nodes must be a power of two.
     * In every tick, the generator can then issue the IDs of all these nodes. Several nodes cannot
     * be combined with sequence_mask or with layouts that have clock sequences. Within a process,
     * a node must be used either alone or always together with the same other nodes.
     */
    const uint64_t *nodes;
    /**
     * The number of integers in nodes; 0 if nodes is NULL.
     */
    size_t node_count;
    /**
     * NULL, or a list of further options, which are set by name after the fields of this struct.
     */
    const struct flakeid_options *options;
} flakeid_config;

/**
 * The counters of a generator. Initialize the struct with FLAKEID_STATS_INIT.
 */
typedef struct flakeid_stats {
    /**
     * The size of the struct: sizeof(flakeid_stats).
     */
    uint32_t struct_size;
    /**
     * Reserved; always 0.
     */
    uint32_t reserved;
    /**
     * The number of times that calls had to wait. A call that issues several IDs can wait, and be
     * counted, several times.
     */
    uint64_t waits;
    /**
     * The number of times the generator detected that the clock went backwards.
     */
    uint64_t rollbacks;
    /**
     * The largest number of ticks by which an ID was ahead of the clock.
     */
    uint64_t largest_ahead;
} flakeid_stats;

/**
 * A function that the library calls with an error status and user_data when IDs cannot be issued.
 * While the function runs, flakeid_last_error() and the related functions describe the error.
 */
typedef void (*flakeid_rejected_callback)(flakeid_status status, void *user_data);

/**
 * The options of a ring. Every option has a default. Initialize the struct with
 * FLAKEID_RING_CONFIG_INIT, or zero it and set struct_size. Then set the fields that you need. For
 * each field that has a flag, also set the flag in `has`. A nonzero field without its flag causes
 * FLAKEID_INVALID_OPTION.
 */
typedef struct flakeid_ring_config {
    /**
     * The size of the struct: sizeof(flakeid_ring_config).
     */
    uint32_t struct_size;
    /**
     * The FLAKEID_HAS_... flags of the fields that are set.
     */
    uint32_t has;
    /**
     * The exponent k, from 0 to 20, that determines the ring's capacity. This field requires the
     * flag FLAKEID_HAS_BOOST_POWER; the default is 3. The capacity is the number of IDs in 2^k
     * full ticks, limited to the range from 2 to 2^20.
     */
    uint32_t boost_power;
    /**
     * The percentage of the ring's capacity below which the ring is refilled: 1 to 99. This field
     * requires the flag FLAKEID_HAS_PADDING_FACTOR; the default is 50.
     */
    uint32_t padding_factor;
    /**
     * The interval at which the ring is refilled even if enough IDs are left: at least 1 ms. This
     * field requires the flag FLAKEID_HAS_REFILL_INTERVAL; the default is a refill only when too
     * few IDs are left. Regular refills keep the IDs of a rarely used ring fresh.
     */
    uint64_t refill_interval_ms;
    /**
     * The maximum age of an ID that the ring returns: at least two ticks. This field requires the
     * flag FLAKEID_HAS_MAX_AGE; the default is 1 s or two ticks, whichever is longer. The age is
     * measured from the beginning of the ID's tick. Older IDs are dropped and counted.
     */
    uint64_t max_age_ms;
    /**
     * NULL, or a function that is called each time the generator refuses to fill the ring, except
     * when all IDs of the tick have been used. The function is called on library threads, and must
     * not block, free the ring, fork, or throw.
     */
    flakeid_rejected_callback on_rejected_put;
    /**
     * NULL, or a function that is called each time flakeid_cached_take() or flakeid_cached_next()
     * returns no ID for a reason other than FLAKEID_CLOSED or FLAKEID_FORKED. The function is
     * called on the caller's thread, possibly on several threads at the same time, and must not
     * free the ring or throw.
     */
    flakeid_rejected_callback on_rejected_take;
    /**
     * A pointer that the library passes to each callback function. The target of the pointer must
     * remain valid until the generator or ring that is created with this struct is freed.
     */
    void *user_data;
    /**
     * NULL, or a list of further options, which are set by name after the fields of this struct.
     */
    const struct flakeid_options *options;
} flakeid_ring_config;

/**
 * The capacity, size and counters of a ring. Initialize the struct with FLAKEID_RING_STATS_INIT.
 */
typedef struct flakeid_ring_stats {
    /**
     * The size of the struct: sizeof(flakeid_ring_stats).
     */
    uint32_t struct_size;
    /**
     * Reserved; always 0.
     */
    uint32_t reserved;
    /**
     * The number of IDs that the ring can hold.
     */
    uint64_t capacity;
    /**
     * The number of IDs that are currently in the ring.
     */
    uint64_t size;
    /**
     * The number of IDs that the ring has returned.
     */
    uint64_t taken;
    /**
     * The number of IDs that the ring dropped instead of returning them, because they were older
     * than max_age_ms.
     */
    uint64_t dropped_stale;
    /**
     * The number of refills that failed for a reason other than a full tick.
     */
    uint64_t rejected_put;
    /**
     * The number of calls, not counting flakeid_cached_poll(), that returned no ID for a reason
     * other than FLAKEID_CLOSED or FLAKEID_FORKED.
     */
    uint64_t rejected_take;
    /**
     * The number of times IDs were added to the ring after the ring was first filled.
     */
    uint64_t refills;
} flakeid_ring_stats;

/**
 * A lease event. The struct and its message are valid only until the callback returns.
 */
typedef struct flakeid_lease_event {
    /**
     * The size of flakeid_lease_event in the loaded library. Later releases may add fields at the
     * end of the struct.
     */
    uint32_t struct_size;
    /**
     * The kind of the event: one of FLAKEID_LEASE_...; later releases may add kinds.
     */
    int32_t kind;
    /**
     * The node that was acquired, lost or released, or whose lease was renewed; 0 for other
     * events.
     */
    uint64_t node;
    /**
     * If a node was acquired, the first tick that may be used; otherwise 0.
     */
    uint64_t start;
    /**
     * If a node was acquired or its lease was renewed, the first tick that must not be used;
     * otherwise 0.
     */
    uint64_t fence;
    /**
     * The status of the failure that caused the event, or FLAKEID_OK.
     */
    flakeid_status status;
    /**
     * Reserved; always 0.
     */
    uint32_t reserved;
    /**
     * The message of the failure that caused the event, or NULL.
     */
    const char *message;
} flakeid_lease_event;

/**
 * A function that the library calls for each event, with the event and user_data, on the lease's
 * own thread.
 */
typedef void (*flakeid_lease_callback)(const struct flakeid_lease_event *event, void *user_data);

/**
 * The options of a lease. Without options, the lease is for any free node of the namespace
 * "default". Initialize the struct with FLAKEID_LEASE_CONFIG_INIT, or zero it and set struct_size.
 * Then set the fields that you need. For each field that has a flag, also set the flag in `has`. A
 * nonzero field without its flag causes FLAKEID_INVALID_OPTION.
 */
typedef struct flakeid_lease_config {
    /**
     * The size of the struct: sizeof(flakeid_lease_config).
     */
    uint32_t struct_size;
    /**
     * The FLAKEID_HAS_... flags of the fields that are set.
     */
    uint32_t has;
    /**
     * The layout of the IDs: a preset's name or a descriptor; NULL means "twitter". A lease must
     * use the layout of its namespace.
     */
    const char *layout;
    /**
     * The namespace from which to lease a node: 1 to 64 characters from the set A-Z a-z 0-9 . _ -;
     * NULL means "default". Each namespace has one layout and its own nodes.
     */
    const char *namespace_name;
    /**
     * The name of this process, 1 to 128 bytes long; NULL means none. If possible, the process
     * gets the last node that was leased under its name.
     */
    const char *name;
    /**
     * The node to lease. This field requires the flag FLAKEID_HAS_NODE; the default is any node.
     * Taking over the node is safe even while another process holds it.
     */
    uint64_t node;
    /**
     * The high part of the node, in layouts that split the node; must be set together with worker.
     * This field requires the flag FLAKEID_HAS_DATACENTER.
     */
    uint64_t datacenter;
    /**
     * The low part of the node, in layouts that split the node; must be set together with
     * datacenter. This field requires the flag FLAKEID_HAS_WORKER.
     */
    uint64_t worker;
    /**
     * The first node of the range from which to lease a node. This field requires the flag
     * FLAKEID_HAS_NODES.
     */
    uint64_t first_node;
    /**
     * The last node of the range from which to lease a node. This field requires the flag
     * FLAKEID_HAS_NODES.
     */
    uint64_t last_node;
    /**
     * The instant of tick 0, in Unix milliseconds. This field requires the flag FLAKEID_HAS_EPOCH;
     * the default is the layout's epoch.
     */
    int64_t epoch;
    /**
     * The largest sequence number to use, which must have the form 2^k - 1. This field requires
     * the flag FLAKEID_HAS_SEQUENCE_MASK; the default is the layout's largest sequence number.
     */
    uint64_t sequence_mask;
    /**
     * The number of random bits in the first sequence number of each tick.
     */
    uint32_t sequence_start;
    /**
     * The behaviour when a tick has no IDs left: FLAKEID_OVERFLOW_WAIT, FLAKEID_OVERFLOW_ERROR or
     * FLAKEID_OVERFLOW_BORROW (default: FLAKEID_OVERFLOW_WAIT).
     */
    int32_t overflow;
    /**
     * The behaviour when the clock goes backwards: FLAKEID_ROLLBACK_CONTINUE,
     * FLAKEID_ROLLBACK_ERROR or FLAKEID_ROLLBACK_WAIT (default: FLAKEID_ROLLBACK_CONTINUE).
     */
    int32_t rollback;
    /**
     * 1 to lease only nodes that have never been leased; 0 to lease any free node.
     */
    int32_t never_reuse;
    /**
     * The time for which the generator issues IDs while the store is unavailable: from two ticks
     * to the longest window that the namespace allows. This field requires the flag
     * FLAKEID_HAS_WINDOW_MS; the default is 10 s or two ticks, whichever is longer.
     */
    uint64_t window_ms;
    /**
     * The time for which the node stays reserved after the last renewal: 1 ms to 30 days. This
     * field requires the flag FLAKEID_HAS_TTL; the default is 60 s or 12 ticks, whichever is
     * longer. Uniqueness does not depend on this time.
     */
    uint64_t ttl_ms;
    /**
     * The longest time that a call waits without issuing an ID. This field requires the flag
     * FLAKEID_HAS_MAX_WAIT; the default is 1 s or two ticks, whichever is longer. Opening a lease
     * may take up to 2 s longer because of the connection to the store, or as long as open_wait_ms
     * if the store grants nothing after a restart.
     */
    uint64_t max_wait_ms;
    /**
     * NULL, or a function that is called for each lease event, on a library thread, one call at a
     * time. The function should return quickly, may close and free the generator, and must not
     * fork or throw. A lease with an event function is not shared with other generators.
     */
    flakeid_lease_callback on_event;
    /**
     * A pointer that the library passes to each callback function. The target of the pointer must
     * remain valid until the generator or ring that is created with this struct is freed.
     */
    void *user_data;
    /**
     * The clock: "gated", "system" or "coarse"; NULL means "gated". With "gated", the time is
     * exact, and on suitable processors the system clock is read only a few times per millisecond.
     * With "system", the system clock is read for every ID. With "coarse", the time lags behind
     * the system clock by a few milliseconds, and is never ahead of the system clock.
     */
    const char *clock_name;
    /**
     * The number of nodes to lease for this generator, which must be a power of two; 0 means 1. In
     * every tick, the generator can issue the IDs of all these nodes. Several nodes cannot be
     * combined with name, node or sequence_mask.
     */
    uint32_t node_count;
    /**
     * Reserved; must be 0.
     */
    uint32_t reserved;
    /**
     * NULL, or a list of further options, which are set by name after the fields of this struct.
     */
    const struct flakeid_options *options;
    /**
     * The longest time that opening a lease waits while the store grants nothing, for example
     * after a restart. This field requires the flag FLAKEID_HAS_OPEN_WAIT; the default is 30 s. If
     * the store would grant a node only later, opening fails at once.
     */
    uint64_t open_wait_ms;
} flakeid_lease_config;

/**
 * The state of a lease. Initialize the struct with FLAKEID_LEASE_STATUS_INIT.
 */
typedef struct flakeid_lease_status {
    /**
     * The size of the struct: sizeof(flakeid_lease_status).
     */
    uint32_t struct_size;
    /**
     * 1 if the generator loses its node at the fence, usually because another process has taken
     * over the node; otherwise 0.
     */
    int32_t fenced_off;
    /**
     * The first tick of the current grant.
     */
    uint64_t start;
    /**
     * The first tick that the generator must not use; every renewal raises the fence.
     */
    uint64_t fence;
    /**
     * The instant at which the fence tick begins, in Unix milliseconds. While the store is
     * unavailable, the generator continues to issue IDs until this instant.
     */
    int64_t fence_unix_ms;
    /**
     * The instant until which the node is reserved for this process, in Unix milliseconds,
     * according to the store's clock.
     */
    int64_t expires_unix_ms;
    /**
     * The time from now until expires_unix_ms, in milliseconds, according to this host's clock.
     * The time is negative if expires_unix_ms is in the past.
     */
    int64_t expires_in_ms;
    /**
     * The number of renewals that the store has confirmed.
     */
    uint64_t renewals;
    /**
     * The number of times that the generator has obtained its nodes from the store. In a forked
     * child that has not issued an ID yet, this field and all others are 0.
     */
    uint64_t grants;
    /**
     * The number of failed attempts to acquire a node or to renew its lease.
     */
    uint64_t failures;
    /**
     * The status of the latest attempt to acquire a node or to renew its lease; FLAKEID_OK if the
     * attempt succeeded.
     */
    flakeid_status last_error;
    /**
     * Reserved; always 0.
     */
    uint32_t reserved;
} flakeid_lease_status;

/**
 * A function that the library calls with user_data on a thread that waits. The function returns a
 * nonzero value to end the wait, and must not throw.
 */
typedef int32_t (*flakeid_interrupt_callback)(void *user_data);

/**
 * The options of a new namespace. Initialize the struct with FLAKEID_NAMESPACE_CONFIG_INIT, or zero
 * it and set struct_size. Then set the fields that you need. For each field that has a flag, also
 * set the flag in `has`. A nonzero field without its flag causes FLAKEID_INVALID_OPTION.
 */
typedef struct flakeid_namespace_config {
    /**
     * The size of the struct: sizeof(flakeid_namespace_config).
     */
    uint32_t struct_size;
    /**
     * The FLAKEID_HAS_... flags of the fields that are set.
     */
    uint32_t has;
    /**
     * The layout of the IDs: a preset's name or a descriptor; NULL means "twitter".
     */
    const char *layout;
    /**
     * The instant of tick 0, in Unix milliseconds. This field requires the flag FLAKEID_HAS_EPOCH;
     * the default is the layout's epoch.
     */
    int64_t epoch;
    /**
     * The longest window of a lease, for which processes can issue IDs while the store is
     * unavailable: from two ticks to a day. This field requires the flag FLAKEID_HAS_MAX_WINDOW;
     * the default is 10 s or four ticks, whichever is longer.
     */
    uint64_t max_window_ms;
    /**
     * The longest time by which a window may start ahead of the clock: at most a day. This field
     * requires the flag FLAKEID_HAS_MAX_AHEAD; the default is 20 s or four ticks, whichever is
     * longer.
     */
    uint64_t max_ahead_ms;
    /**
     * The largest allowed difference between a host's clock and the store's clock: 1 ms to a day.
     * This field requires the flag FLAKEID_HAS_MAX_SKEW; the default is 1 s.
     */
    uint64_t max_skew_ms;
    /**
     * The time for which the store grants no nodes after a restart, a failover or a restore: at
     * most a week. This field requires the flag FLAKEID_HAS_QUIET; the default is the longest
     * window, four times the allowed difference between clocks and a tick, but at least 15 s.
     */
    uint64_t quiet_ms;
    /**
     * The exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes from the
     * brokers; 0 means 0. With 0, processes lease single nodes from the store.
     */
    uint32_t block_bits;
    /**
     * 1 if the store does not record which process held which node; 0 if it does.
     */
    int32_t no_history;
    /**
     * Whether the store has never had a namespace with this name, so that it grants nodes at once:
     * 1 or 0. If this is untrue, IDs may be issued twice. Never set this option when a program
     * starts: it is untrue after the store has lost its data.
     */
    int32_t fresh;
    /**
     * Reserved; must be 0.
     */
    uint32_t reserved;
    /**
     * NULL, or a list of further options, which are set by name after the fields of this struct.
     */
    const struct flakeid_options *options;
} flakeid_namespace_config;

/**
 * The properties of a layout. Initialize the struct with FLAKEID_LAYOUT_INFO_INIT.
 */
typedef struct flakeid_layout_info {
    /**
     * The size of the struct: sizeof(flakeid_layout_info).
     */
    uint32_t struct_size;
    /**
     * The number of bits that the layout uses, out of 64.
     */
    uint32_t width;
    /**
     * The instant of tick 0, in Unix milliseconds.
     */
    int64_t epoch;
    /**
     * The length of a tick in milliseconds.
     */
    uint64_t unit_ms;
    /**
     * The largest tick.
     */
    uint64_t max_tick;
    /**
     * The largest node number; 0 if the layout has no node field.
     */
    uint64_t max_node;
    /**
     * The largest datacenter number; 0 if the layout does not split the node.
     */
    uint64_t max_datacenter;
    /**
     * The largest worker number; 0 if the layout does not split the node.
     */
    uint64_t max_worker;
    /**
     * The largest value of the clock sequence; 0 if the layout has no clock sequence.
     */
    uint64_t max_clock_sequence;
    /**
     * The largest sequence number.
     */
    uint64_t max_sequence;
    /**
     * The number of IDs that one node can issue in one tick.
     */
    uint64_t ids_per_tick;
    /**
     * The number of IDs that one node can issue in one second.
     */
    double ids_per_second;
    /**
     * The first instant after the layout's last tick, in Unix milliseconds.
     */
    int64_t horizon;
    /**
     * The instant, in Unix milliseconds, before which all IDs are positive as signed 64-bit
     * integers.
     */
    int64_t fits_i64_until;
    /**
     * 1 if the layout splits the node into a datacenter and a worker, otherwise 0.
     */
    uint32_t is_split;
    /**
     * 1 if generators can use the layout; 0 if the layout can only decode IDs.
     */
    uint32_t can_generate;
    /**
     * 1 if IDs have at most 53 bits, so that a double can represent every ID exactly; otherwise 0.
     */
    uint32_t fits_f64;
    /**
     * Reserved; always 0.
     */
    uint32_t reserved;
} flakeid_layout_info;

/**
 * The decoded parts of an ID. `unix_ms` is derived from `tick`, and `datacenter` and `worker` are
 * the two parts of `node`. This struct never grows, so it has no struct_size.
 */
typedef struct flakeid_parts {
    /**
     * The number of whole time units since the layout's epoch.
     */
    uint64_t tick;
    /**
     * The instant at which the ID's tick begins, in Unix milliseconds.
     */
    int64_t unix_ms;
    /**
     * The whole node number, including datacenter and worker; 0 if the layout has no node field.
     */
    uint64_t node;
    /**
     * The high part of the node, if `has` contains FLAKEID_HAS_DATACENTER.
     */
    uint64_t datacenter;
    /**
     * The low part of the node, if `has` contains FLAKEID_HAS_WORKER.
     */
    uint64_t worker;
    /**
     * The value of the clock sequence; 0 if the layout has no clock sequence.
     */
    uint64_t clock_sequence;
    /**
     * The sequence number within the tick; 0 if the layout has no sequence.
     */
    uint64_t sequence;
    /**
     * The flags FLAKEID_HAS_DATACENTER and FLAKEID_HAS_WORKER, if the layout splits its node.
     * Parts for flakeid_pack() may omit both flags.
     */
    uint32_t has;
    /**
     * Reserved; always 0.
     */
    uint32_t reserved;
} flakeid_parts;

/**
 * Internal: the state with which the Go module takes an ID without a call into this library. The
 * meaning of the fields may change in any release, so other programs must not use them.
 */
typedef struct flakeid_exposed {
    /**
     * The size of the struct: sizeof(flakeid_exposed).
     */
    uint32_t struct_size;
    /**
     * 1 if the other fields suffice to take an ID, otherwise 0.
     */
    uint32_t suffices;
    /**
     * The atomic word that contains the next free position; UINT64_MAX if the generator is closed.
     */
    const uint64_t *word;
    /**
     * The atomic, exclusive upper bound on positions; 0 if the generator is closed, or in a forked
     * child.
     */
    const uint64_t *limit;
    /**
     * The start of tick 0, in Unix milliseconds.
     */
    int64_t epoch;
    /**
     * The length of a tick, in milliseconds.
     */
    uint64_t unit_ms;
    /**
     * The number of milliseconds from the epoch to the horizon.
     */
    uint64_t span_ms;
    /**
     * The largest offset of a position within its tick.
     */
    uint64_t sequence_mask;
    /**
     * The node, shifted to the bit position of the node field in an ID.
     */
    uint64_t node_bits;
    /**
     * The number of bits below the tick in a position.
     */
    uint32_t width;
    /**
     * The bit position of the time field in an ID.
     */
    uint32_t time_shift;
    /**
     * The bit position of the sequence field in an ID.
     */
    uint32_t sequence_shift;
    /**
     * 1 if the word continues to exist after the generator, otherwise 0.
     */
    uint32_t is_shared;
} flakeid_exposed;

/**
 * The call succeeded.
 */
#define FLAKEID_OK 0

/**
 * The fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs.
 */
#define FLAKEID_INVALID_LAYOUT 1

/**
 * A value is outside the range that its field allows.
 */
#define FLAKEID_FIELD_OUT_OF_RANGE 2

/**
 * An argument (a string, byte sequence or number) is not a valid ID.
 */
#define FLAKEID_INVALID_ID 3

/**
 * An option is invalid, or cannot be combined with another option.
 */
#define FLAKEID_INVALID_OPTION 4

/**
 * The clock went backwards.
 */
#define FLAKEID_CLOCK_ROLLBACK 10

/**
 * All sequence numbers of the tick have been used.
 */
#define FLAKEID_SEQUENCE_EXHAUSTED 11

/**
 * The clock is past the last tick of the layout.
 */
#define FLAKEID_HORIZON_REACHED 12

/**
 * The clock is before the layout's epoch.
 */
#define FLAKEID_BEFORE_EPOCH 13

/**
 * The generator has been retired, and issues no more IDs.
 */
#define FLAKEID_CLOSED 14

/**
 * The generator's node belongs to the parent of this forked process.
 */
#define FLAKEID_FORKED 15

/**
 * The ring buffer of pre-generated IDs is empty.
 */
#define FLAKEID_RING_EMPTY 16

/**
 * The window of ticks that the lease grants has been used up.
 */
#define FLAKEID_LEASE_EXPIRED 20

/**
 * The lease store cannot grant a node at this time.
 */
#define FLAKEID_NO_FREE_NODE 21

/**
 * This host's clock and the store's clock are too far apart.
 */
#define FLAKEID_CLOCK_SKEW 22

/**
 * The node's fence is too far ahead of the clock for a generator to start at the fence.
 */
#define FLAKEID_FENCE_IN_FUTURE 23

/**
 * The lease store is not responding.
 */
#define FLAKEID_STORE_UNAVAILABLE 24

/**
 * The lease store rejected a request.
 */
#define FLAKEID_STORE_REJECTED 25

/**
 * An argument that must not be NULL is NULL.
 */
#define FLAKEID_NULL_ARGUMENT 100

/**
 * The buffer is too small; the message of the last error states the required size.
 */
#define FLAKEID_BUFFER_TOO_SMALL 101

/**
 * The library caught an internal error, which is a bug.
 */
#define FLAKEID_PANIC 102

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the FLAKEID_ABI_VERSION with which the library was built. Programs can compare this
 * number with the number in their header. Thread-safe.
 */
uint32_t flakeid_abi_version(void);

/**
 * Returns the library's version, such as "0.1.0". The string is static. Thread-safe.
 */
const char *flakeid_version(void);

/**
 * Returns the message of a status, or "unknown status" for an unknown number. Never returns NULL.
 * flakeid_last_error() describes a particular failure in more detail. The string is static.
 * Thread-safe.
 */
const char *flakeid_status_message(flakeid_status status);

/**
 * Returns the code of a status, such as "FLAKEID_CLOSED", or "FLAKEID_UNKNOWN_STATUS" for an
 * unknown number. The codes are the same in every language. Never returns NULL. The string is
 * static. Thread-safe.
 */
const char *flakeid_status_code(flakeid_status status);

/**
 * Returns the message of this thread's last failed call: an English sentence that names the field,
 * the value and the range. Returns an empty string if no call has failed yet.
 *
 * Like errno, the message is meaningful only right after a call has failed; successful calls do
 * not change the message. The library owns the string, which stays valid until another call on
 * this thread fails or the thread ends. Thread-safe: each thread has its own message.
 */
const char *flakeid_last_error(void);

/**
 * Returns the message of flakeid_last_error() with option and field names in the spelling of
 * another programming language; `spelling` is one of FLAKEID_SPELLING_... Thread-safe: each thread
 * has its own message.
 */
const char *flakeid_last_error_spelled(int32_t spelling);

/**
 * Returns the name of the field that is out of range, such as "node" or "tick", if the last failed
 * call returned FLAKEID_FIELD_OUT_OF_RANGE, and otherwise NULL. The string stays valid as long as
 * the string that flakeid_last_error() returns. Thread-safe: each thread has its own field.
 */
const char *flakeid_last_error_field(void);

/**
 * Returns the field name of flakeid_last_error_field() in the spelling of another programming
 * language; `spelling` is one of FLAKEID_SPELLING_... Thread-safe: each thread has its own field.
 */
const char *flakeid_last_error_field_spelled(int32_t spelling);

/**
 * Returns the number of milliseconds after which a retry of the last failed call may succeed, or
 * -1 if waiting does not help. Thread-safe: each thread has its own value.
 */
int64_t flakeid_retry_after_ms(void);

/**
 * Returns the number of milliseconds by which the clock went backwards if the last failed call
 * returned FLAKEID_CLOCK_ROLLBACK, and otherwise -1. Thread-safe: each thread has its own value.
 */
int64_t flakeid_rollback_ms(void);

/**
 * Returns the instant at which the layout's last tick ends, in Unix milliseconds, if the last
 * failed call returned FLAKEID_HORIZON_REACHED, and otherwise -1. Thread-safe: each thread has its
 * own value.
 */
int64_t flakeid_horizon_ms(void);

/**
 * Creates an empty list of options that are set by name. The caller owns the list and must free it
 * with flakeid_options_free().
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_options_new(struct flakeid_options **options);

/**
 * Sets the option `name` to the value `text`. The names are "layout", "epoch", and those of the
 * core, such as "node", "max_wait_ms", "overflow" and "nodes". Numbers and times in milliseconds
 * are written as decimal digits, and several numbers are separated by commas. Flags are "true" or
 * "false". Both strings are copied.
 *
 * Setting an option again replaces its value. The function that receives the list checks the
 * values, and returns the same errors as for the fields of a struct. Only one thread at a time may
 * use the list.
 *
 * Errors: FLAKEID_INVALID_OPTION (no option has this name), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_options_set(struct flakeid_options *options,
                                   const char *name,
                                   const char *text);

/**
 * Frees a list of options that are set by name; NULL is allowed. Generators and rings that were
 * created with the list no longer need the list.
 */
void flakeid_options_free(struct flakeid_options *options);

/**
 * Creates a clock that is set to `unix_ms`, in Unix milliseconds. The caller owns the clock and
 * must free it with flakeid_manual_clock_free(). Thread-safe.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_new(int64_t unix_ms, struct flakeid_manual_clock **clock);

/**
 * Sets the clock, forward or back, to `unix_ms`, in Unix milliseconds. Thread-safe, even while
 * generators use the clock.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_set(const struct flakeid_manual_clock *clock, int64_t unix_ms);

/**
 * Moves the clock forward by `ms` milliseconds. Thread-safe, even while generators use the clock.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_advance(const struct flakeid_manual_clock *clock, uint64_t ms);

/**
 * Writes the clock's current time, in Unix milliseconds, to `unix_ms`. Thread-safe, even while
 * generators use the clock.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_get(const struct flakeid_manual_clock *clock, int64_t *unix_ms);

/**
 * Frees the clock; NULL is allowed. Generators that were created with the clock keep a reference
 * to the clock, so the order of freeing does not matter. No other call may use the handle during
 * or after this call.
 */
void flakeid_manual_clock_free(struct flakeid_manual_clock *clock);

/**
 * Creates a generator. The caller owns the generator and must free it with
 * flakeid_generator_free(). `config`, its strings and its clock are not needed after the call.
 * Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (no node, a
 * node that is specified in two ways, a wrong struct_size, ...), FLAKEID_HORIZON_REACHED,
 * FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_new(const struct flakeid_config *config,
                                     struct flakeid_generator **generator);

/**
 * Frees the generator; NULL is allowed. No other call may use the handle during or after this
 * call. Later generators with the same layout and node in this process continue after the last ID
 * that was issued. If the generator is leased, releases its node (in a forked child, the child's
 * own node), unless another generator shares the lease. The release takes at most a second. Waits
 * until any running call to on_event has returned, so the caller must not hold a lock that on_event
 * requires. A call by on_event itself does not wait, and the node is released after on_event has
 * returned. No further call to on_event begins. The local handles and rings of a freed leased
 * generator fail with FLAKEID_CLOSED; the local handles and rings of a freed fixed generator
 * continue to work.
 */
void flakeid_generator_free(struct flakeid_generator *generator);

/**
 * Closes the generator without freeing it. Use this function if other threads may still be using
 * the generator. Later calls, including calls on local handles and rings, fail with
 * FLAKEID_CLOSED. Otherwise, this function behaves like flakeid_generator_free(), which must still
 * be called to free the memory, but waits for at most a second, even if on_event is still running.
 * A second call only waits until the first call has finished its work. Thread-safe.
 *
 * Errors: FLAKEID_FORKED (a generator that flakeid_generator_new() created in the parent),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_close(const struct flakeid_generator *generator);

/**
 * Writes the next ID to `id`. Sleeps until an ID is available, but for at most max_wait_ms.
 * Thread-safe.
 *
 * Errors: FLAKEID_SEQUENCE_EXHAUSTED, FLAKEID_CLOCK_ROLLBACK, FLAKEID_HORIZON_REACHED,
 * FLAKEID_BEFORE_EPOCH, FLAKEID_LEASE_EXPIRED (the window has ended), FLAKEID_CLOSED,
 * FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; for a leased generator in a forked child, also the errors
 * of flakeid_generator_open().
 */
flakeid_status flakeid_generator_next(const struct flakeid_generator *generator, uint64_t *id);

/**
 * Writes the next ID to `id`. Sleeps for at most `max_wait_ms`, which overrides the generator's
 * own limit. Use this function if the caller must return soon. Returns the same errors as
 * flakeid_generator_next(). Thread-safe.
 */
flakeid_status flakeid_generator_next_within(const struct flakeid_generator *generator,
                                             uint64_t max_wait_ms,
                                             uint64_t *id);

/**
 * Writes to `max_wait_ms` the longest time, in milliseconds, that a call waits without issuing an
 * ID: the value of the option max_wait_ms, or its default. Thread-safe.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_max_wait_ms(const struct flakeid_generator *generator,
                                             uint64_t *max_wait_ms);

/**
 * Writes the next ID to `id` without waiting. If no ID is available, call flakeid_retry_after_ms()
 * to find out how long to wait before retrying. Returns the same errors as
 * flakeid_generator_next(). Thread-safe.
 */
flakeid_status flakeid_generator_try_next(const struct flakeid_generator *generator, uint64_t *id);

/**
 * Fills `ids`, from the beginning, with the next IDs in the order of generation, and writes the
 * number of IDs to `count`. Writes fewer than `n` IDs only if the generator could not issue the
 * next ID within max_wait_ms; the next call then reports the reason. Fails only if no ID could be
 * issued, and then writes 0 to `count`. `ids` may be NULL if `n` is 0. Returns the same errors as
 * flakeid_generator_next(). Thread-safe.
 */
flakeid_status flakeid_generator_fill(const struct flakeid_generator *generator,
                                      uint64_t *ids,
                                      size_t n,
                                      size_t *count);

/**
 * Fills the array like flakeid_generator_fill(), but never waits. Thread-safe.
 */
flakeid_status flakeid_generator_try_fill(const struct flakeid_generator *generator,
                                          uint64_t *ids,
                                          size_t n,
                                          size_t *count);

/**
 * Extends the window up to, but not including, the tick `fence`. A fence that is lower than the
 * current fence changes nothing. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_OPTION (no window, or a leased generator), FLAKEID_CLOSED,
 * FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_extend(const struct flakeid_generator *generator, uint64_t fence);

/**
 * Retires the generator: no later call issues an ID. Writes to `last_tick` the last tick in which
 * the generator issued an ID, or FLAKEID_NO_TICK if there is no such tick. The generator must
 * still be freed. Thread-safe.
 *
 * Errors: FLAKEID_CLOSED (a second call), FLAKEID_FORKED, FLAKEID_INVALID_OPTION (a leased
 * generator, which flakeid_generator_free() closes), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_retire(const struct flakeid_generator *generator,
                                        uint64_t *last_tick);

/**
 * Writes the counters of the generator to `stats`. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_OPTION (a wrong struct_size), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_stats(const struct flakeid_generator *generator,
                                       struct flakeid_stats *stats);

/**
 * Writes to `node` the node of the generator's IDs, or the smallest node if the generator has
 * several nodes. The node of a leased generator changes if the generator loses the node, and when
 * the generator issues its first ID in a forked child. Thread-safe.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_node(const struct flakeid_generator *generator, uint64_t *node);

/**
 * Writes all nodes that the generator's IDs can contain, in increasing order, to `nodes`, which
 * has room for `n` nodes. Writes the number of nodes to `count`. The nodes of a leased generator
 * change in the cases that flakeid_generator_node() lists. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_nodes(const struct flakeid_generator *generator,
                                       uint64_t *nodes,
                                       size_t n,
                                       size_t *count);

/**
 * Writes the canonical descriptor of the generator's layout, including the epoch, as a string to
 * `buffer`. FLAKEID_DESCRIPTOR_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_layout(const struct flakeid_generator *generator,
                                        char *buffer,
                                        size_t size);

/**
 * Creates a local handle for a generator with a fixed node or a leased node. The caller owns the
 * handle and must free it with flakeid_local_free(). The handle keeps a reference to the
 * generator, so the generator may be freed first. After the generator is freed, the handle fails
 * with FLAKEID_CLOSED if the node is leased, and continues to work if the node is fixed.
 * Thread-safe.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_local_open(const struct flakeid_generator *generator,
                                  struct flakeid_local **local);

/**
 * Writes the next ID to `id`. Waits in the same way as flakeid_generator_next(), and returns the
 * same errors. Only one thread at a time may use the handle.
 */
flakeid_status flakeid_local_next(struct flakeid_local *local, uint64_t *id);

/**
 * Frees the handle; NULL is allowed. No other call may use the handle during or after this call.
 */
void flakeid_local_free(struct flakeid_local *local);

/**
 * Creates a ring for a generator with a fixed node or a leased node, and fills the ring. `config`
 * may be NULL, and is not needed after the call. Waits for the first IDs in the same way as
 * flakeid_generator_next(). The caller owns the ring and must free it with flakeid_cached_free().
 * The ring keeps a reference to the generator, so the generator may be freed first. After the
 * generator is freed, calls that take IDs from the ring fail with FLAKEID_CLOSED if the node is
 * leased, and continue to work if the node is fixed. Thread-safe.
 *
 * Errors: FLAKEID_FIELD_OUT_OF_RANGE (boost_power, padding_factor), FLAKEID_INVALID_OPTION (a
 * max_age_ms or refill_interval_ms that is too short, a generator with
 * FLAKEID_ROLLBACK_CLOCK_SEQUENCE, a wrong struct_size, ...), FLAKEID_NULL_ARGUMENT, and the
 * errors of flakeid_generator_next().
 */
flakeid_status flakeid_cached_open(const struct flakeid_generator *generator,
                                   const struct flakeid_ring_config *config,
                                   struct flakeid_cached **cached);

/**
 * Takes the next ID from the ring. Does not wait for a refill, but waits if the generator is
 * leased and the ring must restart with another node. Thread-safe.
 *
 * Errors: FLAKEID_RING_EMPTY, FLAKEID_CLOCK_ROLLBACK (the ring's IDs are too far ahead of the
 * clock), FLAKEID_CLOSED, FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; with a leased generator, also the
 * errors of flakeid_generator_next().
 */
flakeid_status flakeid_cached_take(const struct flakeid_cached *cached, uint64_t *id);

/**
 * Takes the next ID from the ring if an ID is available. Never waits, never restarts the ring with
 * another node, and never increases rejected_take. Use this function if the caller must not wait,
 * or can do other work until an ID is available. flakeid_cached_take() and flakeid_cached_next()
 * report why no ID is available. Thread-safe.
 *
 * Errors: FLAKEID_RING_EMPTY (no ID is available, for any reason), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_cached_poll(const struct flakeid_cached *cached, uint64_t *id);

/**
 * Takes the next ID from the ring. If the ring is empty, waits for a refill, but not longer than
 * the generator's max_wait_ms. Thread-safe.
 *
 * Errors: FLAKEID_RING_EMPTY, and the errors of flakeid_generator_next().
 */
flakeid_status flakeid_cached_next(const struct flakeid_cached *cached, uint64_t *id);

/**
 * Writes the capacity, size and counters of the ring to `stats`. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_OPTION (a wrong struct_size), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_cached_stats(const struct flakeid_cached *cached,
                                    struct flakeid_ring_stats *stats);

/**
 * Closes the ring without freeing it. Use this function if other threads may still be using the
 * ring. Later calls, and calls that are waiting, fail with FLAKEID_CLOSED. IDs that are still in
 * the ring are never issued; the generator remains open. Ends the ring's thread in the same way as
 * flakeid_cached_free(), which must still be called to free the memory. A second call does
 * nothing. Thread-safe.
 *
 * Errors: FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_cached_close(const struct flakeid_cached *cached);

/**
 * Frees the ring; NULL is allowed. No other call may use the handle during or after this call.
 * Ends the ring's thread and waits until the thread has finished, including any running call to
 * on_rejected_put. No callback is called after this function has returned. IDs that are still in
 * the ring are never issued.
 */
void flakeid_cached_free(struct flakeid_cached *cached);

/**
 * Leases a node from the store at `url`, and creates a generator whose IDs are unique among all
 * processes that lease from the same namespace. `url` is sqlite:///path, postgresql://...,
 * mysql://..., redis://... or etcd://... If `url` is NULL, the environment variables FLAKEID_STORE
 * and FLAKEID_NAMESPACE select the store and the namespace; the default is the store that root has
 * named in /etc/flakeid/store, or else a file for this user on this host. `config` may be NULL; the
 * struct, its strings and `url` are not needed after the call.
 *
 * A library thread renews the lease. Generators in one process that have the same options share
 * one lease. In a forked child, the generator leases another node for its first ID. The caller
 * owns the generator, and flakeid_generator_free() releases the node. If the process ends without
 * calling flakeid_generator_free(), the node becomes free after ttl_ms. flakeid_generator_open()
 * waits at most max_wait_ms plus 2 s, or open_wait_ms while a restarted store grants nothing.
 * Thread-safe.
 *
 * Errors: FLAKEID_STORE_UNAVAILABLE, FLAKEID_STORE_REJECTED (a wrong password, a missing
 * namespace, a layout other than the namespace's, the embedded store in a container, ...),
 * FLAKEID_NO_FREE_NODE, FLAKEID_CLOCK_SKEW, FLAKEID_FENCE_IN_FUTURE, FLAKEID_INVALID_LAYOUT,
 * FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_open(const char *url,
                                      const struct flakeid_lease_config *config,
                                      struct flakeid_generator **generator);

/**
 * Writes the state of a generator's lease to `status`. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_OPTION (a generator that flakeid_generator_new() created, or an invalid
 * struct_size), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_lease(const struct flakeid_generator *generator,
                                       struct flakeid_lease_status *status);

/**
 * Sets a function with which the calling thread can end its own waits; NULL removes the function.
 * Every call of this thread that waits for an ID or a lease then calls the function at least every
 * 100 ms. If the function returns a nonzero value, the call makes one last attempt. If that
 * attempt gets nothing, the call fails as if max_wait_ms had passed. The program must remove the
 * function before user_data becomes invalid and before the thread ends. Other threads have their
 * own functions.
 */
void flakeid_set_interrupt(flakeid_interrupt_callback function, void *user_data);

/**
 * Creates the namespace `name` in the store at `url`, with the tables or keys that the store needs
 * for it. `name` consists of 1 to 64 characters of A-Z a-z 0-9 . _ -. `config` may be NULL. Writes
 * to `wait_ms` the time, in milliseconds, until the store can grant nodes; `wait_ms` may be NULL.
 *
 * A server cannot distinguish a namespace that never existed from a namespace that it has lost.
 * Therefore, the store grants nothing until all leases that it may have lost have ended: 15 s with
 * the default bounds, and the first IDs are then up to 18 s ahead of the clock. Each assumed bound
 * is the larger of the default bound and the bound in `config`. If the lost namespace may have had
 * larger bounds, create it with the command `flakeid leases init --lost`. An embedded store
 * (sqlite) detects its losses, so its nodes can usually be leased at once.
 *
 * If the namespace already exists with the same layout, the same blocks and the given options,
 * nothing changes, so every process can call this function when it starts. On a database server,
 * the function requires a user who may create tables. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_OPTION (also if the namespace exists with a value other than a given
 * option), FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_LAYOUT, FLAKEID_STORE_REJECTED (the namespace
 * exists with another layout or other blocks, the URL of a broker, missing permissions, ...),
 * FLAKEID_STORE_UNAVAILABLE, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_create_namespace(const char *url,
                                        const char *name,
                                        const struct flakeid_namespace_config *config,
                                        uint64_t *wait_ms);

/**
 * Checks that `layout` is NULL, the name of a preset, or a valid descriptor. Returns FLAKEID_OK or
 * FLAKEID_INVALID_LAYOUT. Thread-safe.
 */
flakeid_status flakeid_layout_check(const char *layout);

/**
 * Writes the canonical descriptor of a layout as a string. FLAKEID_DESCRIPTOR_SIZE bytes are
 * always enough. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_layout_descriptor(const char *layout, char *buffer, size_t size);

/**
 * Writes the properties of a layout to `info`. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_OPTION (invalid struct_size),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_layout_get_info(const char *layout, struct flakeid_layout_info *info);

/**
 * Returns the number of presets. Thread-safe.
 */
size_t flakeid_preset_count(void);

/**
 * Returns the name of the preset at `index`, from 0 to flakeid_preset_count() - 1, or NULL for any
 * other index. The string is static. Thread-safe.
 */
const char *flakeid_preset_name(size_t index);

/**
 * Decodes an ID into its parts. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_ID (the ID has bits that the layout never sets),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_decode(const char *layout, uint64_t id, struct flakeid_parts *parts);

/**
 * Packs the given parts into an ID. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (parts that
 * contradict each other), FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_pack(const char *layout, const struct flakeid_parts *parts, uint64_t *id);

/**
 * Writes parts for flakeid_pack() to `parts`: the tick that contains the instant `unix_ms`, and the
 * instant at which that tick begins. All other parts are zero. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED,
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_parts_at(const char *layout, int64_t unix_ms, struct flakeid_parts *parts);

/**
 * Combines a datacenter and a worker into a node. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (the layout
 * does not split its node), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_join_node(const char *layout,
                                 uint64_t datacenter,
                                 uint64_t worker,
                                 uint64_t *node);

/**
 * Writes the tick that contains the instant `unix_ms` to `tick`. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED,
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_tick_at(const char *layout, int64_t unix_ms, uint64_t *tick);

/**
 * Writes the instant at which a tick begins, in Unix milliseconds. For a tick after the layout's
 * last tick, writes the layout's horizon. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_unix_ms_at(const char *layout, uint64_t tick, int64_t *unix_ms);

/**
 * Writes an instant as an RFC 3339 timestamp in UTC with the precision of the layout.
 * FLAKEID_TIMESTAMP_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_timestamp(const char *layout, int64_t unix_ms, char *buffer, size_t size);

/**
 * Writes the smallest ID in the tick that contains `unix_ms`, for range scans (id >= lower). An
 * instant outside the layout's range is clamped to the first or last tick. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_lower_bound(const char *layout, int64_t unix_ms, uint64_t *id);

/**
 * Writes the largest ID in the tick that contains `unix_ms`, for range scans (id <= upper). An
 * instant outside the layout's range is clamped to the first or last tick. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_upper_bound(const char *layout, int64_t unix_ms, uint64_t *id);

/**
 * Writes the ID as 1 to 20 decimal digits. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_decimal(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from 1 to 20 decimal digits; leading zeros are allowed. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_decimal(const char *text, uint64_t *id);

/**
 * Writes the ID as 13 Crockford base32 digits, which sort in the order of the IDs.
 * FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base32(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from Crockford base32 digits. Also accepts lowercase letters, I and L for 1, and O
 * for 0. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base32(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 13 lowercase base36 digits. FLAKEID_TEXT_SIZE bytes are always enough.
 * Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base36(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from base36 digits, in upper or lower case. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base36(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 11 base58 digits in Bitcoin's alphabet. FLAKEID_TEXT_SIZE bytes are always
 * enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base58(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from base58 digits in Bitcoin's alphabet. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base58(const char *text, uint64_t *id);

/**
 * Writes the ID as 11 base62 digits (0-9A-Za-z), which sort in the order of the IDs.
 * FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base62(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from 11 base62 digits. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base62(const char *text, uint64_t *id);

/**
 * Writes the ID as 16 lowercase hexadecimal digits, which sort in the order of the IDs.
 * FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_hex(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from 16 hexadecimal digits, in upper or lower case, without the prefix 0x.
 * Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_hex(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 11 base58 digits in Flickr's alphabet, as the Go library
 * bwmarrin/snowflake does. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base58_flickr(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from base58 digits in Flickr's alphabet. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base58_flickr(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 13 z-base-32 digits, as Base32() does in the Go library
 * bwmarrin/snowflake. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_zbase32(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from z-base-32 digits, in upper or lower case. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_zbase32(const char *text, uint64_t *id);

/**
 * Writes the ID as the 36 characters of a UUID of version 8 (RFC 9562), which sort in the order of
 * the IDs. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_uuid(uint64_t id, char *buffer, size_t size);

/**
 * Reads an ID from the 36 characters of a UUID, in upper or lower case. Rejects UUIDs that flakeid
 * did not create from IDs. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_uuid(const char *text, uint64_t *id);

/**
 * Writes the ID as 8 bytes, the most significant byte first, so that the bytes sort in the order
 * of the IDs. Writes no NUL after the bytes. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_bytes(uint64_t id, uint8_t *buffer, size_t size);

/**
 * Reads an ID from the `size` bytes at `bytes`, the most significant byte first; `size` must be 8.
 * Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_bytes(const uint8_t *bytes, size_t size, uint64_t *id);

/**
 * Writes the ID as the 16 bytes of a UUID of version 8 (RFC 9562), which sort in the order of the
 * IDs. Writes no NUL after the bytes. Thread-safe.
 *
 * Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_uuid_bytes(uint64_t id, uint8_t *buffer, size_t size);

/**
 * Reads an ID from the `size` bytes of a UUID at `bytes`; `size` must be 16. Rejects UUIDs that
 * flakeid did not create from IDs. Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_uuid_bytes(const uint8_t *bytes, size_t size, uint64_t *id);

/**
 * Creates a converter for the public IDs of a domain. `keyring` is the content of the file that
 * `flakeid keygen` writes. `domain` is the kind of object that the IDs identify, such as "user".
 * The domain has 1 to 64 bytes and must not change while public IDs are in use. `prefix` has up to
 * 16 lowercase letters and digits and starts with a letter; NULL means no prefix. IDs from before
 * `since_ms` (Unix milliseconds) cannot be opened; NULL means the layout's epoch. The caller owns
 * the handle and must free it with flakeid_public_ids_free(). Thread-safe.
 *
 * Errors: FLAKEID_INVALID_OPTION (keyring, domain or prefix), FLAKEID_INVALID_LAYOUT,
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_new(const char *keyring,
                                      const char *domain,
                                      const char *layout,
                                      const char *prefix,
                                      const int64_t *since_ms,
                                      struct flakeid_public_ids **ids);

/**
 * Writes the public form of an ID: the prefix and an underscore (if there is a prefix), the
 * current key's letter, and 11 base58 digits. FLAKEID_PUBLIC_ID_SIZE bytes are always enough.
 * Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID (the ID has bits that the layout never sets),
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_seal(const struct flakeid_public_ids *ids,
                                       uint64_t id,
                                       char *buffer,
                                       size_t size);

/**
 * Writes the public form of an ID as a 64-bit integer, without the prefix and the key letter.
 * Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_seal_bits(const struct flakeid_public_ids *ids,
                                            uint64_t id,
                                            uint64_t *bits);

/**
 * Opens a public ID, compares the ID's time with the system clock, and writes the ID to `id`.
 * Thread-safe.
 *
 * Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT. FLAKEID_INVALID_ID does not reveal why the
 * public ID was rejected. The string may be random, or may have been created with a different key,
 * domain or prefix. The ID may also be from before `since_ms`, or more than a minute ahead of the
 * clock.
 */
flakeid_status flakeid_public_ids_open(const struct flakeid_public_ids *ids,
                                       const char *text,
                                       uint64_t *id);

/**
 * Opens a public ID in the same way as flakeid_public_ids_open(), but compares the ID's time with
 * the instant `unix_ms`, in Unix milliseconds, instead of the system clock. Thread-safe.
 */
flakeid_status flakeid_public_ids_open_at(const struct flakeid_public_ids *ids,
                                          const char *text,
                                          int64_t unix_ms,
                                          uint64_t *id);

/**
 * Frees the handle; NULL is allowed. No other call may use the handle during or after this call.
 */
void flakeid_public_ids_free(struct flakeid_public_ids *ids);

/**
 * Writes to `exposed` the state with which the Go module takes IDs of the generator's current node.
 * The addresses are valid until the generator is freed. Internal: other programs must not use this
 * function. Thread-safe.
 *
 * Errors: FLAKEID_CLOSED (a closed lease), FLAKEID_INVALID_OPTION (a wrong struct_size),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_expose(const struct flakeid_generator *generator,
                                        struct flakeid_exposed *exposed);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLAKEID_H */
