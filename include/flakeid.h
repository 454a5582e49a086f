/* Made from bindings/c/src by `cargo xtask header`: do not edit.
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
 *   error, which is the same in every release. A comment lists the statuses that a function has;
 *   any may also return FLAKEID_PANIC, a defect of the library that was caught.
 * - Inputs come first, outputs last. Outputs are written only on success, except the count of a
 *   fill, which is always written.
 * - NULL where something must be given is FLAKEID_NULL_ARGUMENT. Other pointers must be valid and
 *   aligned for their type, and outputs must not overlap.
 * - Strings are UTF-8 and end in NUL; the length of an input is its strlen. A buffer that is too
 *   small is FLAKEID_BUFFER_TOO_SMALL, and the last error says which size is needed.
 * - `layout` is a preset's name ("twitter", "sonyflake", ...) or a descriptor
 *   ("t41.n10.s12@1288834974657/1ms"); NULL is the default, "twitter".
 * - Structs that may grow begin with struct_size, which the program sets (by the _INIT macro).
 *   The library reads and writes no more than that. Fields that an older program lacks have
 *   their default; fields that a newer program sets and an older library does not know are
 *   FLAKEID_INVALID_OPTION; fields that an older library cannot fill become 0.
 * - Whoever gets a handle owns it and frees it with its _free function. "Any thread" means: may
 *   be called by any number of threads at the same time, with the same handle too.
 * - fork: in the child, generators of the parent return FLAKEID_FORKED. Build new ones there, with
 *   nodes of their own. Those of flakeid_generator_open() go on in the child, by themselves, with
 *   another node. Local handles and rings do as their generators.
 * - flakeid_last_error() and its companions belong to the calling thread.
 * - Two copies of the library in one process (shared and static, say) share nothing: give their
 *   generators different nodes.
 */


#ifndef FLAKEID_H
#define FLAKEID_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header. */
#define FLAKEID_VERSION "0.1.0"

/* No options: a node has still to be given. */
#define FLAKEID_CONFIG_INIT \
    {sizeof(flakeid_config), 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, \
     NULL, 0, NULL}

/* No options: any node of the namespace "default". */
#define FLAKEID_LEASE_CONFIG_INIT \
    {sizeof(flakeid_lease_config), 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
     NULL, NULL, NULL, 0, 0, NULL}

/* No options: the defaults. */
#define FLAKEID_RING_CONFIG_INIT \
    {sizeof(flakeid_ring_config), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL}

#define FLAKEID_LEASE_STATUS_INIT {sizeof(flakeid_lease_status), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

#define FLAKEID_STATS_INIT {sizeof(flakeid_stats), 0, 0, 0, 0}

#define FLAKEID_RING_STATS_INIT {sizeof(flakeid_ring_stats), 0, 0, 0, 0, 0, 0, 0, 0}

#define FLAKEID_LAYOUT_INFO_INIT \
    {sizeof(flakeid_layout_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Number of the binary interface that this header describes. It changes only when programs have
 * to be compiled anew: structs may grow at their end without it (see struct_size).
 */
#define FLAKEID_ABI_VERSION 1

/**
 * For flakeid_last_error_spelled: names as C spells them, `max_wait_ms`.
 */
#define FLAKEID_SPELLING_C 0

/**
 * For flakeid_last_error_spelled: names as C++ spells them, `max_wait`.
 */
#define FLAKEID_SPELLING_CPP 1

/**
 * For flakeid_last_error_spelled: names as Go spells them, `WithMaxWait`.
 */
#define FLAKEID_SPELLING_GO 2

/**
 * For flakeid_last_error_spelled: names as Java spells them, `maxWait`.
 */
#define FLAKEID_SPELLING_JAVA 3

/**
 * `has`: node is given.
 */
#define FLAKEID_HAS_NODE 1

/**
 * `has`: datacenter is given.
 */
#define FLAKEID_HAS_DATACENTER 2

/**
 * `has`: worker is given.
 */
#define FLAKEID_HAS_WORKER 4

/**
 * `has`: epoch is given.
 */
#define FLAKEID_HAS_EPOCH 8

/**
 * `has`: sequence_mask is given.
 */
#define FLAKEID_HAS_SEQUENCE_MASK 16

/**
 * `has`: max_ahead_ms is given.
 */
#define FLAKEID_HAS_MAX_AHEAD 32

/**
 * `has`: max_wait_ms is given.
 */
#define FLAKEID_HAS_MAX_WAIT 64

/**
 * `has`: window_start and window_fence are given.
 */
#define FLAKEID_HAS_WINDOW 128

/**
 * When a tick is full, next and fill wait for the next one (the default).
 */
#define FLAKEID_OVERFLOW_WAIT 0

/**
 * When a tick is full, FLAKEID_SEQUENCE_EXHAUSTED at once.
 */
#define FLAKEID_OVERFLOW_ERROR 1

/**
 * When a tick is full, issue from the following ones, at most max_ahead_ms ahead of the clock.
 * Only with a window.
 */
#define FLAKEID_OVERFLOW_BORROW 2

/**
 * When the clock goes back, go on in the current tick until it is full, then wait at most
 * max_wait_ms (the default).
 */
#define FLAKEID_ROLLBACK_CONTINUE 0

/**
 * When the clock goes back, FLAKEID_CLOCK_ROLLBACK at once.
 */
#define FLAKEID_ROLLBACK_ERROR 1

/**
 * When the clock goes back, wait at most max_wait_ms.
 */
#define FLAKEID_ROLLBACK_WAIT 2

/**
 * When the clock goes back, switch to a clock-sequence value not used at this time yet. Only in
 * layouts with clock-sequence bits, and without a window.
 */
#define FLAKEID_ROLLBACK_CLOCK_SEQUENCE 3

/**
 * What flakeid_generator_retire() returns for a generator that has issued no ID. No tick has this
 * value.
 */
#define FLAKEID_NO_TICK UINT64_MAX

/**
 * `has`: boost_power is given.
 */
#define FLAKEID_HAS_BOOST_POWER 2048

/**
 * `has`: padding_factor is given.
 */
#define FLAKEID_HAS_PADDING_FACTOR 4096

/**
 * `has`: refill_interval_ms is given.
 */
#define FLAKEID_HAS_REFILL_INTERVAL 8192

/**
 * `has`: max_age_ms is given.
 */
#define FLAKEID_HAS_MAX_AGE 16384

/**
 * A node was granted.
 */
#define FLAKEID_LEASE_ACQUIRED 1

/**
 * The fence was moved up.
 */
#define FLAKEID_LEASE_RENEWED 2

/**
 * Another process has the node from the fence on; another one is taken.
 */
#define FLAKEID_LEASE_FENCED_OFF 3

/**
 * The store refused a request.
 */
#define FLAKEID_LEASE_REFUSED 4

/**
 * The store does not answer. IDs go on until the fence.
 */
#define FLAKEID_LEASE_STORE_LOST 5

/**
 * The store answers again.
 */
#define FLAKEID_LEASE_STORE_FOUND 6

/**
 * This host's clock and the store's are too far apart.
 */
#define FLAKEID_LEASE_CLOCK_SKEW 7

/**
 * The node was given back.
 */
#define FLAKEID_LEASE_RELEASED 8

/**
 * `has`: first_node and last_node are given.
 */
#define FLAKEID_HAS_NODES 256

/**
 * `has`: window_ms is given.
 */
#define FLAKEID_HAS_WINDOW_MS 512

/**
 * `has`: ttl_ms is given.
 */
#define FLAKEID_HAS_TTL 1024

/**
 * Bytes that are always enough for a layout's canonical descriptor, with its final NUL.
 */
#define FLAKEID_DESCRIPTOR_SIZE 128

/**
 * Bytes that are always enough for a timestamp, with its final NUL.
 */
#define FLAKEID_TIMESTAMP_SIZE 32

/**
 * Bytes that are enough for an ID in every text form, with the final NUL.
 */
#define FLAKEID_TEXT_SIZE 21

/**
 * Bytes that are enough for every public ID, with the final NUL.
 */
#define FLAKEID_PUBLIC_ID_SIZE 30

/**
 * A ring of IDs that a thread of the library makes in advance, so that taking one is several times
 * faster. Its IDs are unique, and strictly increase across all threads that take from it, but are
 * not in order with IDs of the generator itself. It is fast in bursts, or below the layout's rate:
 * it never holds more than the generator may issue, and hands out nothing older than max_age_ms.
 * Every function but flakeid_cached_free() may be called by any number of threads at the same
 * time. In a forked child it works, or fails, as its generator does there, and hands out nothing
 * of the parent's ring.
 */
typedef struct flakeid_cached flakeid_cached;

/**
 * A clock that stands still until it is told otherwise, for tests of code that makes IDs. Waiting
 * on it does not sleep but moves it forward.
 */
typedef struct flakeid_manual_clock flakeid_manual_clock;

/**
 * Makes the IDs of one node, or several: unique, and strictly increasing across all threads.
 * Generators of one layout and node share their position within a process. Every function but
 * flakeid_generator_free() may be called by any number of threads at the same time. In a forked
 * child, generators of the parent are FLAKEID_FORKED, except those of flakeid_generator_open(),
 * which lease a node of their own there; all may be freed there.
 */
typedef struct flakeid_generator flakeid_generator;

/**
 * One thread's share of a generator. It is several times faster, because it reserves IDs in
 * blocks. Its own IDs strictly increase, and no ID is issued twice, here or elsewhere; across
 * threads there is no order. Times in IDs are never ahead of the clock, and late by at most one
 * tick of the kernel's coarse clock, a few milliseconds.
 *
 * Only one thread may use it at a time: give each thread one of its own, or let them take turns.
 * In a forked child it works, or fails, as its generator does there.
 */
typedef struct flakeid_local flakeid_local;

/**
 * Options by name, as text: for programs that read options from a file, and for other languages.
 * The field `options` of flakeid_config, flakeid_lease_config and flakeid_ring_config refers to
 * them.
 */
typedef struct flakeid_options flakeid_options;

/**
 * IDs of one domain as outsiders see them: encrypted, so that they tell neither a time nor a node
 * nor a number. It hides; it does not authorise: a text that was made up may open as some ID, if
 * seldom. Any thread.
 */
typedef struct flakeid_public_ids flakeid_public_ids;

/**
 * What a call returns: 0 is success, the others say what went wrong. Numbers are never reused.
 */
typedef int32_t flakeid_status;

/**
 * The options of a generator. Start from FLAKEID_CONFIG_INIT, or from zero with struct_size set;
 * then set the fields you need, and in `has` the flags of those that have one. A field that is
 * set without its flag is FLAKEID_INVALID_OPTION, so none is ignored silently. A node (or a
 * datacenter and a worker, or several nodes) must be given: there is no default.
 */
typedef struct flakeid_config {
    /**
     * sizeof(flakeid_config).
     */
    uint32_t struct_size;
    /**
     * FLAKEID_HAS_... flags.
     */
    uint32_t has;
    /**
     * The layout of the IDs: the name of a preset or a descriptor; NULL is "twitter".
     */
    const char *layout;
    /**
     * The node, from 0 to the layout's largest; there is no default, because no other generator
     * may have it at the same time (FLAKEID_HAS_NODE).
     */
    uint64_t node;
    /**
     * The high part of the node, in layouts that split it; requires worker
     * (FLAKEID_HAS_DATACENTER).
     */
    uint64_t datacenter;
    /**
     * The low part of the node, in layouts that split it; requires datacenter
     * (FLAKEID_HAS_WORKER).
     */
    uint64_t worker;
    /**
     * The instant of tick 0, in Unix milliseconds (FLAKEID_HAS_EPOCH; otherwise the layout's).
     */
    int64_t epoch;
    /**
     * The largest sequence number to use: 2^k - 1 (FLAKEID_HAS_SEQUENCE_MASK; otherwise the
     * layout's).
     */
    uint64_t sequence_mask;
    /**
     * The number of bits of a random sequence number with which each tick begins.
     */
    uint32_t sequence_start;
    /**
     * The behaviour when a tick is full: a constant FLAKEID_OVERFLOW_*. FLAKEID_OVERFLOW_BORROW
     * requires a window.
     */
    int32_t overflow;
    /**
     * The behaviour when the clock goes backwards: a constant FLAKEID_ROLLBACK_*.
     */
    int32_t rollback;
    /**
     * Must be 0.
     */
    uint32_t reserved;
    /**
     * The longest time by which IDs of a window may be ahead of the clock (FLAKEID_HAS_MAX_AHEAD;
     * otherwise 20 s).
     */
    uint64_t max_ahead_ms;
    /**
     * The longest time that a call waits without issuing an ID (FLAKEID_HAS_MAX_WAIT; otherwise 1
     * s or two ticks, whichever is longer).
     */
    uint64_t max_wait_ms;
    /**
     * A clock for tests, instead of clock_name; or NULL. The generator keeps a reference of its
     * own.
     */
    const struct flakeid_manual_clock *clock;
    /**
     * The first tick that may be used (FLAKEID_HAS_WINDOW).
     */
    uint64_t window_start;
    /**
     * The tick after the last one that may be used (FLAKEID_HAS_WINDOW).
     */
    uint64_t window_fence;
    /**
     * The clock: "gated" is the system's, exact, and read only a few times a millisecond where the
     * processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late;
     * NULL is "gated".
     */
    const char *clock_name;
    /**
     * NULL, or several nodes instead of one, for as many times the IDs in a tick; their number
     * must be a power of two. Cannot be combined with sequence_mask or layouts with clock
     * sequences. Within a process a node must be used either alone or always together with the
     * same other nodes.
     */
    const uint64_t *nodes;
    /**
     * The number of integers in nodes; 0 if nodes is NULL.
     */
    size_t node_count;
    /**
     * NULL, or further options by name, which are set after the fields.
     */
    const struct flakeid_options *options;
} flakeid_config;

/**
 * What happened to a generator besides issuing IDs. Start from FLAKEID_STATS_INIT.
 */
typedef struct flakeid_stats {
    /**
     * sizeof(flakeid_stats).
     */
    uint32_t struct_size;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * How many calls had to wait; a fill counts each time that it had to.
     */
    uint64_t waits;
    /**
     * Times the clock was seen to go back.
     */
    uint64_t rollbacks;
    /**
     * The furthest that an ID's tick was ahead of the clock, in ticks.
     */
    uint64_t largest_ahead;
} flakeid_stats;

/**
 * A function that is called when IDs were refused, with the reason and user_data. While it runs,
 * flakeid_last_error() and its companions say more.
 */
typedef void (*flakeid_rejected_callback)(flakeid_status status, void *user_data);

/**
 * The options of a ring. Start from FLAKEID_RING_CONFIG_INIT, or from zero with struct_size set;
 * then set the fields you need, and in `has` the flags of those that have one. A field that is
 * set without its flag is FLAKEID_INVALID_OPTION. All have defaults.
 */
typedef struct flakeid_ring_config {
    /**
     * sizeof(flakeid_ring_config).
     */
    uint32_t struct_size;
    /**
     * FLAKEID_HAS_... flags.
     */
    uint32_t has;
    /**
     * The power k of the ring's capacity, the IDs of 2^k full ticks: 0 to 20; at least 2 IDs and
     * at most 2^20 (FLAKEID_HAS_BOOST_POWER; otherwise 3).
     */
    uint32_t boost_power;
    /**
     * The percentage of IDs below which the ring is refilled: 1 to 99 (FLAKEID_HAS_PADDING_FACTOR;
     * otherwise 50).
     */
    uint32_t padding_factor;
    /**
     * The interval at which the ring is refilled even if enough IDs are left, which keeps a seldom
     * used ring fresh: at least 1 ms (FLAKEID_HAS_REFILL_INTERVAL; otherwise only when too few IDs
     * are left).
     */
    uint64_t refill_interval_ms;
    /**
     * The largest age of an ID that the ring hands out, from the beginning of the ID's tick: at
     * least two ticks (FLAKEID_HAS_MAX_AGE; otherwise 1 s or two ticks, whichever is longer).
     * Older IDs are dropped and counted.
     */
    uint64_t max_age_ms;
    /**
     * NULL, or a function that is called each time the generator refuses to fill the ring for
     * another reason than a full tick. It is called on threads of the library, and must not block,
     * free the ring, fork, or throw.
     */
    flakeid_rejected_callback on_rejected_put;
    /**
     * NULL, or a function that is called each time a call gets no ID for another reason than
     * FLAKEID_CLOSED and FLAKEID_FORKED. It is called on the caller's thread, so possibly on
     * several at the same time, and must not free the ring or throw.
     */
    flakeid_rejected_callback on_rejected_take;
    /**
     * Passed to the functions. It must live until what was opened with it is freed.
     */
    void *user_data;
    /**
     * NULL, or further options by name, which are set after the fields.
     */
    const struct flakeid_options *options;
} flakeid_ring_config;

/**
 * What a ring holds, and what happened to it. Start from FLAKEID_RING_STATS_INIT.
 */
typedef struct flakeid_ring_stats {
    /**
     * sizeof(flakeid_ring_stats).
     */
    uint32_t struct_size;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * IDs that the ring can hold.
     */
    uint64_t capacity;
    /**
     * IDs in the ring now.
     */
    uint64_t size;
    /**
     * IDs handed out.
     */
    uint64_t taken;
    /**
     * IDs dropped because they were older than max_age_ms. They are never handed out.
     */
    uint64_t dropped_stale;
    /**
     * Refills that the generator refused for another reason than a full tick.
     */
    uint64_t rejected_put;
    /**
     * Calls that got no ID for another reason than FLAKEID_CLOSED and FLAKEID_FORKED.
     */
    uint64_t rejected_take;
    /**
     * Portions put into the ring after the first filling.
     */
    uint64_t refills;
} flakeid_ring_stats;

/**
 * What happened to a lease. It and its message live as long as the call that gets it.
 */
typedef struct flakeid_lease_event {
    /**
     * What the library's flakeid_lease_event has: later releases may add fields at its end.
     */
    uint32_t struct_size;
    /**
     * FLAKEID_LEASE_...; later releases may add kinds.
     */
    int32_t kind;
    /**
     * The node that was acquired, renewed, lost or released; otherwise 0.
     */
    uint64_t node;
    /**
     * The first tick that may be used, of a node that was acquired; otherwise 0.
     */
    uint64_t start;
    /**
     * The first tick that may not be used, of a node that was acquired or renewed; otherwise 0.
     */
    uint64_t fence;
    /**
     * What went wrong, or FLAKEID_OK.
     */
    flakeid_status status;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * What went wrong, as a sentence, or NULL.
     */
    const char *message;
} flakeid_lease_event;

/**
 * A function that is called with each event and user_data, on the lease's own thread.
 */
typedef void (*flakeid_lease_callback)(const struct flakeid_lease_event *event, void *user_data);

/**
 * The options of a lease. Start from FLAKEID_LEASE_CONFIG_INIT, or from zero with struct_size set;
 * then set the fields you need, and in `has` the flags of those that have one. A field that is
 * set without its flag is FLAKEID_INVALID_OPTION. Without options any free node of the namespace
 * "default" is leased.
 */
typedef struct flakeid_lease_config {
    /**
     * sizeof(flakeid_lease_config).
     */
    uint32_t struct_size;
    /**
     * FLAKEID_HAS_... flags.
     */
    uint32_t has;
    /**
     * The layout of the IDs, which must be the namespace's: the name of a preset or a descriptor;
     * NULL is "twitter".
     */
    const char *layout;
    /**
     * The namespace to lease from: 1 to 64 of A-Z a-z 0-9 . _ -; NULL is "default". Each namespace
     * has one layout, and nodes of its own.
     */
    const char *namespace_name;
    /**
     * The name of this process, by which it prefers the node that it had last: 1 to 128 bytes;
     * NULL is none.
     */
    const char *name;
    /**
     * The node to lease, which is taken over even from a live holder; that is safe
     * (FLAKEID_HAS_NODE; otherwise any node).
     */
    uint64_t node;
    /**
     * The high part of the node, in layouts that split it; requires worker
     * (FLAKEID_HAS_DATACENTER).
     */
    uint64_t datacenter;
    /**
     * The low part of the node, in layouts that split it; requires datacenter
     * (FLAKEID_HAS_WORKER).
     */
    uint64_t worker;
    /**
     * The first node to choose from (FLAKEID_HAS_NODES).
     */
    uint64_t first_node;
    /**
     * The last node to choose from (FLAKEID_HAS_NODES).
     */
    uint64_t last_node;
    /**
     * The instant of tick 0, in Unix milliseconds (FLAKEID_HAS_EPOCH; otherwise the layout's).
     */
    int64_t epoch;
    /**
     * The largest sequence number to use: 2^k - 1 (FLAKEID_HAS_SEQUENCE_MASK; otherwise the
     * layout's).
     */
    uint64_t sequence_mask;
    /**
     * The number of bits of a random sequence number with which each tick begins.
     */
    uint32_t sequence_start;
    /**
     * The behaviour when a tick is full: a constant FLAKEID_OVERFLOW_*.
     */
    int32_t overflow;
    /**
     * The behaviour when the clock goes backwards: a constant FLAKEID_ROLLBACK_* except
     * FLAKEID_ROLLBACK_CLOCK_SEQUENCE.
     */
    int32_t rollback;
    /**
     * 1 leases only nodes that were never leased before; 0 leases any free node.
     */
    int32_t never_reuse;
    /**
     * The time for which the generator issues IDs while the store is away: from two ticks to what
     * the namespace allows (FLAKEID_HAS_WINDOW_MS; otherwise 10 s or two ticks, whichever is
     * longer).
     */
    uint64_t window_ms;
    /**
     * The time after the last renewal until other processes can have the node: 1 ms to 30 days
     * (FLAKEID_HAS_TTL; otherwise 60 s or 12 ticks, whichever is longer). Uniqueness does not
     * depend on it.
     */
    uint64_t ttl_ms;
    /**
     * The longest time that a call waits without issuing an ID (FLAKEID_HAS_MAX_WAIT; otherwise 1
     * s or two ticks, whichever is longer). Opening a lease takes at most 2 s more, to connect.
     */
    uint64_t max_wait_ms;
    /**
     * NULL, or a function that is called with everything that happens to the lease: on a thread of
     * the library, one call at a time. It should be quick, and must not free the generator, fork,
     * or throw. A lease with a function is not shared with other generators.
     */
    flakeid_lease_callback on_event;
    /**
     * Passed to the functions. It must live until what was opened with it is freed.
     */
    void *user_data;
    /**
     * The clock: "gated" is the system's, exact, and read only a few times a millisecond where the
     * processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late;
     * NULL is "gated".
     */
    const char *clock_name;
    /**
     * The number of nodes to lease for this one generator, a power of two, for as many times the
     * IDs in a tick; 0 means 1. Several nodes cannot be combined with name, node or sequence_mask.
     */
    uint32_t node_count;
    /**
     * Must be 0.
     */
    uint32_t reserved;
    /**
     * NULL, or further options by name, which are set after the fields.
     */
    const struct flakeid_options *options;
} flakeid_lease_config;

/**
 * The state of a lease. Start from FLAKEID_LEASE_STATUS_INIT.
 */
typedef struct flakeid_lease_status {
    /**
     * sizeof(flakeid_lease_status).
     */
    uint32_t struct_size;
    /**
     * 1 if the node belongs to another process from the fence on.
     */
    int32_t fenced_off;
    /**
     * The first tick of the present grant.
     */
    uint64_t start;
    /**
     * The first tick that may not be used; every renewal moves it up.
     */
    uint64_t fence;
    /**
     * When that tick begins, in Unix milliseconds. IDs go on until then while the store is away.
     */
    int64_t fence_unix_ms;
    /**
     * Until when no other process can have the node, in Unix milliseconds of the store's clock.
     */
    int64_t expires_unix_ms;
    /**
     * How far in the future that is by this host's clock, in milliseconds; negative if it is past.
     */
    int64_t expires_in_ms;
    /**
     * How many renewals the store confirmed.
     */
    uint64_t renewals;
    /**
     * How many nodes were granted so far. 0 in a forked child that has issued no ID yet: the other
     * fields are 0 then too.
     */
    uint64_t grants;
    /**
     * How many attempts to acquire or renew failed.
     */
    uint64_t failures;
    /**
     * Why the latest attempt failed; FLAKEID_OK if it succeeded.
     */
    flakeid_status last_error;
    /**
     * 0.
     */
    uint32_t reserved;
} flakeid_lease_status;

/**
 * The figures of a layout. Start from FLAKEID_LAYOUT_INFO_INIT.
 */
typedef struct flakeid_layout_info {
    /**
     * sizeof(flakeid_layout_info).
     */
    uint32_t struct_size;
    /**
     * How many of the 64 bits the layout uses.
     */
    uint32_t width;
    /**
     * Unix milliseconds of tick 0.
     */
    int64_t epoch;
    /**
     * The length of a tick in milliseconds.
     */
    uint64_t unit_ms;
    /**
     * The last tick.
     */
    uint64_t max_tick;
    /**
     * The largest node; 0 where the layout has no node field.
     */
    uint64_t max_node;
    /**
     * The largest datacenter; 0 unless is_split.
     */
    uint64_t max_datacenter;
    /**
     * The largest worker; 0 unless is_split.
     */
    uint64_t max_worker;
    /**
     * The largest clock sequence; 0 where the layout has none.
     */
    uint64_t max_clock_sequence;
    /**
     * The largest sequence number.
     */
    uint64_t max_sequence;
    /**
     * How many IDs one node can issue in one tick.
     */
    uint64_t ids_per_tick;
    /**
     * How many IDs one node can issue in one second.
     */
    double ids_per_second;
    /**
     * The instant at which the ticks run out, in Unix milliseconds, exclusive.
     */
    int64_t horizon;
    /**
     * Until when IDs are positive as a signed 64-bit integer, in Unix milliseconds, exclusive.
     */
    int64_t fits_i64_until;
    /**
     * 1 if the node is datacenter and worker, else 0.
     */
    uint32_t is_split;
    /**
     * 1 if generators can be built on the layout, else 0 (it only decodes).
     */
    uint32_t can_generate;
    /**
     * 1 if every ID is exact as a double (at most 53 bits), else 0.
     */
    uint32_t fits_f64;
    /**
     * 0.
     */
    uint32_t reserved;
} flakeid_layout_info;

/**
 * What an ID says, field by field. `unix_ms` repeats `tick`, and `datacenter` with `worker` repeat
 * `node`. This struct is final, so it has no struct_size.
 */
typedef struct flakeid_parts {
    /**
     * Whole units since the layout's epoch.
     */
    uint64_t tick;
    /**
     * The instant at which that tick begins, in Unix milliseconds.
     */
    int64_t unix_ms;
    /**
     * The whole machine field; 0 where the layout has none.
     */
    uint64_t node;
    /**
     * The node's high part (FLAKEID_HAS_DATACENTER).
     */
    uint64_t datacenter;
    /**
     * The node's low part (FLAKEID_HAS_WORKER).
     */
    uint64_t worker;
    /**
     * The clock sequence; 0 where the layout has none.
     */
    uint64_t clock_sequence;
    /**
     * The counter within the tick; 0 where the layout has none.
     */
    uint64_t sequence;
    /**
     * FLAKEID_HAS_DATACENTER and FLAKEID_HAS_WORKER where the layout splits its node. For packing
     * they may be left out.
     */
    uint32_t has;
    /**
     * 0.
     */
    uint32_t reserved;
} flakeid_parts;

/**
 * Success.
 */
#define FLAKEID_OK 0

/**
 * A layout's fields, epoch or unit do not make a layout, or not one that can generate.
 */
#define FLAKEID_INVALID_LAYOUT 1

/**
 * A value is outside the range that its field allows.
 */
#define FLAKEID_FIELD_OUT_OF_RANGE 2

/**
 * Text, bytes or a number that is not an ID.
 */
#define FLAKEID_INVALID_ID 3

/**
 * An option that cannot be, or cannot be together with another.
 */
#define FLAKEID_INVALID_OPTION 4

/**
 * The clock reads less than it did before.
 */
#define FLAKEID_CLOCK_ROLLBACK 10

/**
 * Every sequence number of the tick is used up.
 */
#define FLAKEID_SEQUENCE_EXHAUSTED 11

/**
 * The layout's ticks have run out.
 */
#define FLAKEID_HORIZON_REACHED 12

/**
 * The clock reads less than the layout's epoch.
 */
#define FLAKEID_BEFORE_EPOCH 13

/**
 * The generator was retired.
 */
#define FLAKEID_CLOSED 14

/**
 * The generator's node belongs to the parent of this forked process.
 */
#define FLAKEID_FORKED 15

/**
 * The ring buffer of pre-built IDs is empty.
 */
#define FLAKEID_RING_EMPTY 16

/**
 * The granted window of ticks is used up.
 */
#define FLAKEID_LEASE_EXPIRED 20

/**
 * No node can be leased now.
 */
#define FLAKEID_NO_FREE_NODE 21

/**
 * This host's clock and the store's are too far apart.
 */
#define FLAKEID_CLOCK_SKEW 22

/**
 * The node's fence lies too far ahead of the clock.
 */
#define FLAKEID_FENCE_IN_FUTURE 23

/**
 * The lease store does not answer.
 */
#define FLAKEID_STORE_UNAVAILABLE 24

/**
 * The lease store answers no.
 */
#define FLAKEID_STORE_REJECTED 25

/**
 * An argument that must not be NULL is NULL.
 */
#define FLAKEID_NULL_ARGUMENT 100

/**
 * The buffer is too small; the last error says which size is needed.
 */
#define FLAKEID_BUFFER_TOO_SMALL 101

/**
 * A defect of the library was caught.
 */
#define FLAKEID_PANIC 102

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The FLAKEID_ABI_VERSION that the library was built with; programs compare it with the header's.
 * Any thread.
 */
uint32_t flakeid_abi_version(void);

/**
 * The library's version, such as "0.1.0". The string is static. Any thread.
 */
const char *flakeid_version(void);

/**
 * What a status means, as a sentence; "unknown status" for any other number. Never NULL.
 * flakeid_last_error() says more about a particular failure. The string is static. Any thread.
 */
const char *flakeid_status_message(flakeid_status status);

/**
 * The code of a status, "FLAKEID_...", which is the same in every language;
 * "FLAKEID_UNKNOWN_STATUS" for any other number. Never NULL. The string is static. Any thread.
 */
const char *flakeid_status_code(flakeid_status status);

/**
 * The message of this thread's last failed call: an English sentence that names the field, the
 * value and the range. Empty if no call has failed yet.
 *
 * Like errno it means something only right after a call failed; calls that succeed leave it.
 * The string belongs to the library and stays valid until a call of this thread fails, or the
 * thread ends. Any thread; each has its own.
 */
const char *flakeid_last_error(void);

/**
 * Returns the message of flakeid_last_error() with the names of options and fields as another
 * language spells them: `spelling` is FLAKEID_SPELLING_... Any thread; each has its own.
 */
const char *flakeid_last_error_spelled(int32_t spelling);

/**
 * The field at fault if the last failed call was FLAKEID_FIELD_OUT_OF_RANGE ("node", "tick",
 * ...), otherwise NULL. Lives as long as flakeid_last_error(). Any thread; each has its own.
 */
const char *flakeid_last_error_field(void);

/**
 * Returns the field of flakeid_last_error_field() as another language spells it: `spelling` is
 * FLAKEID_SPELLING_... Any thread; each has its own.
 */
const char *flakeid_last_error_field_spelled(int32_t spelling);

/**
 * After how many milliseconds the last failed call may succeed, or -1 where waiting does not
 * help. Any thread; each has its own.
 */
int64_t flakeid_retry_after_ms(void);

/**
 * By how many milliseconds the clock went back if the last failed call was
 * FLAKEID_CLOCK_ROLLBACK, otherwise -1. Any thread; each has its own.
 */
int64_t flakeid_rollback_ms(void);

/**
 * When the layout ran out, in Unix milliseconds, if the last failed call was
 * FLAKEID_HORIZON_REACHED, otherwise -1. Any thread; each has its own.
 */
int64_t flakeid_horizon_ms(void);

/**
 * Makes an empty list of options by name. The caller owns it, and flakeid_options_free() frees it.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_options_new(struct flakeid_options **options);

/**
 * Sets an option by its name in the core, such as "node", "max_wait_ms", "overflow" or "nodes", or
 * by the names "layout" and "epoch". Numbers and milliseconds are decimal digits,
 * several numbers have commas between them, flags are "true" or "false". Both strings are copied.
 *
 * Setting an option again replaces its text. The function that takes the options checks the text;
 * it returns the same errors as for a field. One thread at a time.
 *
 * FLAKEID_INVALID_OPTION for a name that is not an option, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_options_set(struct flakeid_options *options,
                                   const char *name,
                                   const char *text);

/**
 * Frees options by name; NULL is allowed. Generators and rings do not need the options any more.
 */
void flakeid_options_free(struct flakeid_options *options);

/**
 * Makes a clock that reads `unix_ms` milliseconds since 1970. The caller owns it and frees it
 * with flakeid_manual_clock_free(). Any thread.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_new(int64_t unix_ms, struct flakeid_manual_clock **clock);

/**
 * Sets the clock, forward or back. Any thread, also while generators use it.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_set(const struct flakeid_manual_clock *clock, int64_t unix_ms);

/**
 * Moves the clock forward by `ms` milliseconds. Any thread, also while generators use it.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_advance(const struct flakeid_manual_clock *clock, uint64_t ms);

/**
 * What the clock reads, in Unix milliseconds. Any thread, also while generators use it.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_manual_clock_get(const struct flakeid_manual_clock *clock, int64_t *unix_ms);

/**
 * Frees the handle; NULL is allowed. Generators that were built with the clock keep a reference
 * of their own, so the order of freeing does not matter. No other call may use the handle
 * meanwhile or later.
 */
void flakeid_manual_clock_free(struct flakeid_manual_clock *clock);

/**
 * Makes a generator. The caller owns it and frees it with flakeid_generator_free(); config, its
 * layout string and its clock are not needed any more after the call. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (no node, two kinds
 * of node, a wrong struct_size, ...), FLAKEID_HORIZON_REACHED, FLAKEID_FORKED,
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_new(const struct flakeid_config *config,
                                     struct flakeid_generator **generator);

/**
 * Frees the generator; NULL is allowed. No other call may use the handle meanwhile or later. The
 * node's position is kept for the process's next generator of that node. A leased node is given
 * back, unless another generator shares the lease, which takes at most a second; in a forked child
 * it is the child's own node. Waits for a call of on_event that is under way; no call follows.
 * Local handles and rings of a leased generator are FLAKEID_CLOSED from then on; those of any
 * other generator go on.
 */
void flakeid_generator_free(struct flakeid_generator *generator);

/**
 * Ends the generator without freeing it, for programs that do not know which calls of other threads
 * are under way: calls that begin later are FLAKEID_CLOSED. Otherwise as flakeid_generator_free(),
 * which has still to be called. Called again, it only waits for what the first call waits for. Any
 * thread.
 *
 * FLAKEID_FORKED (of flakeid_generator_new() in the parent), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_close(const struct flakeid_generator *generator);

/**
 * The next ID. Waits, asleep, at most max_wait_ms. Any thread.
 *
 * FLAKEID_SEQUENCE_EXHAUSTED, FLAKEID_CLOCK_ROLLBACK, FLAKEID_HORIZON_REACHED,
 * FLAKEID_BEFORE_EPOCH, FLAKEID_LEASE_EXPIRED (the end of a window), FLAKEID_CLOSED,
 * FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; in a forked child of a leased generator also those of
 * flakeid_generator_open().
 */
flakeid_status flakeid_generator_next(const struct flakeid_generator *generator, uint64_t *id);

/**
 * The next ID. Waits, asleep, at most `max_wait_ms`, whatever the generator's own is: for callers that
 * must be back soon. Errors as flakeid_generator_next(). Any thread.
 */
flakeid_status flakeid_generator_next_within(const struct flakeid_generator *generator,
                                             uint64_t max_wait_ms,
                                             uint64_t *id);

/**
 * How long a call waits without issuing an ID, in milliseconds: what max_wait_ms of the options was, or
 * the default. Any thread.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_max_wait_ms(const struct flakeid_generator *generator,
                                             uint64_t *max_wait_ms);

/**
 * The next ID, without ever waiting; flakeid_retry_after_ms() says when to try again. Errors as
 * flakeid_generator_next(). Any thread.
 */
flakeid_status flakeid_generator_try_next(const struct flakeid_generator *generator, uint64_t *id);

/**
 * Fills `ids` from its beginning with the next IDs, in order, and writes into `count` how many:
 * at most `n`, and fewer only if an obstacle outlasted max_wait_ms, which the next call reports.
 * Fails only if there was no ID at all; `count` is written then too, as 0. `ids` may be NULL if
 * `n` is 0. Errors as flakeid_generator_next(). Any thread.
 */
flakeid_status flakeid_generator_fill(const struct flakeid_generator *generator,
                                      uint64_t *ids,
                                      size_t n,
                                      size_t *count);

/**
 * As flakeid_generator_fill(), without ever waiting. Any thread.
 */
flakeid_status flakeid_generator_try_fill(const struct flakeid_generator *generator,
                                          uint64_t *ids,
                                          size_t n,
                                          size_t *count);

/**
 * Raises the end of the window to the tick `fence`, exclusive; a lower fence than the present one
 * changes nothing. Any thread.
 *
 * FLAKEID_INVALID_OPTION (no window, or a leased generator), FLAKEID_CLOSED, FLAKEID_FORKED,
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_extend(const struct flakeid_generator *generator, uint64_t fence);

/**
 * Ends the generator: no later call issues an ID. `last_tick` receives the last tick in which it
 * issued one, or FLAKEID_NO_TICK. It still has to be freed. Any thread.
 *
 * FLAKEID_CLOSED the second time, FLAKEID_FORKED, FLAKEID_INVALID_OPTION (a leased generator, which
 * flakeid_generator_free() ends), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_retire(const struct flakeid_generator *generator,
                                        uint64_t *last_tick);

/**
 * What happened to the generator besides issuing IDs. Any thread.
 *
 * FLAKEID_INVALID_OPTION (struct_size), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_stats(const struct flakeid_generator *generator,
                                       struct flakeid_stats *stats);

/**
 * The node in the IDs, the smallest if there are several. A leased generator's node changes if
 * another process takes it, and in a forked child at the first ID. Any thread.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_node(const struct flakeid_generator *generator, uint64_t *node);

/**
 * Writes all nodes in the IDs, in rising order, into `nodes`, which has room for `n`, and into
 * `count` how many. Otherwise as flakeid_generator_node(). Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_nodes(const struct flakeid_generator *generator,
                                       uint64_t *nodes,
                                       size_t n,
                                       size_t *count);

/**
 * Writes the canonical descriptor of the generator's layout, with its epoch, as a string;
 * FLAKEID_DESCRIPTOR_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_layout(const struct flakeid_generator *generator,
                                        char *buffer,
                                        size_t size);

/**
 * Makes a local handle of a generator, fixed or leased. The caller owns it and frees it with
 * flakeid_local_free(). The handle keeps a reference of its own, so the generator may be freed
 * before it: the handle of a leased generator is FLAKEID_CLOSED from then on, any other goes on.
 * Any thread.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_local_open(const struct flakeid_generator *generator,
                                  struct flakeid_local **local);

/**
 * The next ID. Waits and fails as flakeid_generator_next(). One thread at a time.
 */
flakeid_status flakeid_local_next(struct flakeid_local *local, uint64_t *id);

/**
 * Frees the handle; NULL is allowed. No other call may use the handle meanwhile or later.
 */
void flakeid_local_free(struct flakeid_local *local);

/**
 * Makes a ring over a generator, fixed or leased, and fills it; `config` may be NULL, and is not
 * needed any more after the call. Waits as flakeid_generator_next(). The caller owns the ring and
 * frees it with flakeid_cached_free(). The ring keeps a reference of its own, so the generator may
 * be freed before it: the ring of a leased generator is FLAKEID_CLOSED from then on, any other
 * goes on. Any thread.
 *
 * FLAKEID_FIELD_OUT_OF_RANGE (boost_power, padding_factor), FLAKEID_INVALID_OPTION (a max_age_ms
 * or refill_interval_ms that is too short, FLAKEID_ROLLBACK_CLOCK_SEQUENCE, struct_size, ...),
 * FLAKEID_NULL_ARGUMENT, and those of flakeid_generator_next().
 */
flakeid_status flakeid_cached_open(const struct flakeid_generator *generator,
                                   const struct flakeid_ring_config *config,
                                   struct flakeid_cached **cached);

/**
 * The next ID of the ring, without waiting for a refill. Only the ring of a leased generator may
 * wait, and only to start again with another node. Any thread.
 *
 * FLAKEID_RING_EMPTY, FLAKEID_CLOCK_ROLLBACK (its IDs are too far ahead of the clock),
 * FLAKEID_CLOSED, FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; of a leased generator also those of
 * flakeid_generator_next().
 */
flakeid_status flakeid_cached_take(const struct flakeid_cached *cached, uint64_t *id);

/**
 * The next ID of the ring, if it has one to hand out: never waits, never begins with another node,
 * and counts no refusal. For callers that may not wait, or that have something to do before they
 * call flakeid_cached_take() or flakeid_cached_next(), which say why there is none. Any thread.
 *
 * FLAKEID_RING_EMPTY, whatever the reason; FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_cached_poll(const struct flakeid_cached *cached, uint64_t *id);

/**
 * The next ID of the ring; waits for a refill, asleep, at most the generator's max_wait_ms. Any
 * thread.
 *
 * FLAKEID_RING_EMPTY, and those of flakeid_generator_next().
 */
flakeid_status flakeid_cached_next(const struct flakeid_cached *cached, uint64_t *id);

/**
 * What the ring holds, and what happened to it. Any thread.
 *
 * FLAKEID_INVALID_OPTION (struct_size), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_cached_stats(const struct flakeid_cached *cached,
                                    struct flakeid_ring_stats *stats);

/**
 * Ends the ring without freeing it, for programs that do not know which calls of other threads are
 * under way: calls that begin later are FLAKEID_CLOSED, and so are those that wait. IDs that are left
 * in it are never issued; its generator goes on. Ends the ring's thread as flakeid_cached_free() does,
 * which has still to be called and frees the memory. Nothing the second time. Any thread.
 *
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_cached_close(const struct flakeid_cached *cached);

/**
 * Frees the ring; NULL is allowed. No other call may use the handle meanwhile or later. Ends the
 * ring's thread and waits for it, and so for a call of on_rejected_put that is under way; no call
 * follows. IDs that are left in the ring are never issued.
 */
void flakeid_cached_free(struct flakeid_cached *cached);

/**
 * Leases a node from the store at `url` and makes a generator of it: unique among all processes
 * that lease from the same namespace. `url` is sqlite:///path, postgresql://..., mysql://...,
 * redis://... or etcd://...; NULL takes what the environment's FLAKEID_STORE and FLAKEID_NAMESPACE
 * say, and otherwise the embedded store, a file for this user on this host. `config` may be NULL;
 * it, its strings and `url` are not needed any more after the call.
 *
 * A thread of the library renews the lease. Generators of one process with the same options share
 * one. In a forked child the generator leases a node of its own at its first ID there. The caller
 * owns the generator, and flakeid_generator_free() gives the node back. If the process ends
 * without that, the node is free after ttl_ms. Waits at most max_wait_ms plus 2 s. Any thread.
 *
 * FLAKEID_STORE_UNAVAILABLE, FLAKEID_STORE_REJECTED (a wrong password, no such namespace, another
 * layout, the embedded store in a container, ...), FLAKEID_NO_FREE_NODE, FLAKEID_CLOCK_SKEW,
 * FLAKEID_FENCE_IN_FUTURE, FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE,
 * FLAKEID_INVALID_OPTION, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_open(const char *url,
                                      const struct flakeid_lease_config *config,
                                      struct flakeid_generator **generator);

/**
 * The state of a generator's lease. Any thread.
 *
 * FLAKEID_INVALID_OPTION (a generator of flakeid_generator_new(), struct_size),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_generator_lease(const struct flakeid_generator *generator,
                                       struct flakeid_lease_status *status);

/**
 * Says whether a string names a layout: FLAKEID_OK or FLAKEID_INVALID_LAYOUT. Any thread.
 */
flakeid_status flakeid_layout_check(const char *layout);

/**
 * Writes the canonical descriptor of a layout as a string; FLAKEID_DESCRIPTOR_SIZE bytes are
 * always enough. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_layout_descriptor(const char *layout, char *buffer, size_t size);

/**
 * The figures of a layout. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_OPTION (struct_size), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_layout_get_info(const char *layout, struct flakeid_layout_info *info);

/**
 * How many presets there are. Any thread.
 */
size_t flakeid_preset_count(void);

/**
 * The name of a preset, from 0 to flakeid_preset_count() - 1; NULL for any other index. The
 * string is static. Any thread.
 */
const char *flakeid_preset_name(size_t index);

/**
 * The parts of an ID. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_INVALID_ID (bits that the layout never sets),
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_decode(const char *layout, uint64_t id, struct flakeid_parts *parts);

/**
 * The ID of these parts. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (parts that
 * contradict each other), FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_pack(const char *layout, const struct flakeid_parts *parts, uint64_t *id);

/**
 * Parts to start from for flakeid_pack(): the tick of an instant, everything else zero. Any
 * thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_parts_at(const char *layout, int64_t unix_ms, struct flakeid_parts *parts);

/**
 * The node made of a datacenter and a worker. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (the layout does not
 * split its node), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_join_node(const char *layout,
                                 uint64_t datacenter,
                                 uint64_t worker,
                                 uint64_t *node);

/**
 * The tick of an instant. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_BEFORE_EPOCH, FLAKEID_HORIZON_REACHED, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_tick_at(const char *layout, int64_t unix_ms, uint64_t *tick);

/**
 * The instant at which a tick begins, in Unix milliseconds; ticks past the last one give the
 * horizon. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_unix_ms_at(const char *layout, uint64_t tick, int64_t *unix_ms);

/**
 * Writes an instant as an RFC 3339 timestamp in UTC with the precision of the layout;
 * FLAKEID_TIMESTAMP_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_timestamp(const char *layout, int64_t unix_ms, char *buffer, size_t size);

/**
 * The smallest ID of the tick that contains `unix_ms`, for range scans (id >= lower). Instants
 * outside the layout's range are clamped to it. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_lower_bound(const char *layout, int64_t unix_ms, uint64_t *id);

/**
 * The largest ID of the tick that contains `unix_ms`, inclusive (id <= upper). Instants outside
 * the layout's range are clamped to it. Any thread.
 *
 * FLAKEID_INVALID_LAYOUT, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_upper_bound(const char *layout, int64_t unix_ms, uint64_t *id);

/**
 * Writes the ID as 1 to 20 decimal digits. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_decimal(uint64_t id, char *buffer, size_t size);

/**
 * Reads 1 to 20 decimal digits, leading zeros allowed. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_decimal(const char *text, uint64_t *id);

/**
 * Writes the ID as 13 digits of Crockford's base32, which sort as the ID does. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base32(uint64_t id,
                                 char *buffer,
                                 size_t size);

/**
 * Reads Crockford's base32; lower case, I and L for 1, and O for 0 are accepted. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base32(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 13 digits of base36, lower case. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base36(uint64_t id,
                                 char *buffer,
                                 size_t size);

/**
 * Reads base36, either case. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base36(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 11 digits of base58 in Bitcoin's alphabet. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base58(uint64_t id,
                                 char *buffer,
                                 size_t size);

/**
 * Reads base58 in Bitcoin's alphabet. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base58(const char *text, uint64_t *id);

/**
 * Writes the ID as 11 digits of base62 (0-9A-Za-z), which sort as the ID does. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base62(uint64_t id,
                                 char *buffer,
                                 size_t size);

/**
 * Reads 11 digits of base62. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base62(const char *text, uint64_t *id);

/**
 * Writes the ID as 16 hexadecimal digits, lower case, which sort as the ID does. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_hex(uint64_t id,
                              char *buffer,
                              size_t size);

/**
 * Reads 16 hexadecimal digits, either case, without 0x. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_hex(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 11 digits of base58 in Flickr's alphabet, as bwmarrin/snowflake does. FLAKEID_TEXT_SIZE bytes are
 * always enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_base58_flickr(uint64_t id,
                                        char *buffer,
                                        size_t size);

/**
 * Reads base58 in Flickr's alphabet. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_base58_flickr(const char *text, uint64_t *id);

/**
 * Writes the ID as 1 to 13 digits of z-base-32, as Base32 of bwmarrin/snowflake does. FLAKEID_TEXT_SIZE bytes are always
 * enough. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_zbase32(uint64_t id,
                                  char *buffer,
                                  size_t size);

/**
 * Reads z-base-32, either case. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_zbase32(const char *text, uint64_t *id);

/**
 * Writes the ID as 8 bytes, the most significant first, so that they sort as the ID does. No NUL
 * follows. Any thread.
 *
 * FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_to_bytes(uint64_t id, uint8_t *buffer, size_t size);

/**
 * Reads an ID from the `size` bytes at `bytes`, which must be 8. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_from_bytes(const uint8_t *bytes, size_t size, uint64_t *id);

/**
 * Makes the public form of the IDs of a domain. `keyring` is the text of the file that `flakeid
 * keygen` makes. `domain` says what the IDs are of, such as "user", in 1 to 64 bytes, and is fixed
 * for as long as their public form is in use. `prefix` has up to 16 lower-case letters and digits,
 * a letter first; NULL is none. IDs from before `since_ms` (Unix milliseconds) do not open; NULL
 * is the layout's epoch. The caller owns the handle and frees it with flakeid_public_ids_free().
 * Any thread.
 *
 * FLAKEID_INVALID_OPTION (keyring, domain or prefix), FLAKEID_INVALID_LAYOUT,
 * FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_new(const char *keyring,
                                      const char *domain,
                                      const char *layout,
                                      const char *prefix,
                                      const int64_t *since_ms,
                                      struct flakeid_public_ids **ids);

/**
 * Writes the public form of an ID: the prefix and an underscore, the letter of the current key, and
 * 11 digits of base58. FLAKEID_PUBLIC_ID_SIZE bytes are always enough. Any thread.
 *
 * FLAKEID_INVALID_ID (bits that the layout never sets), FLAKEID_BUFFER_TOO_SMALL (nothing is
 * written), FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_seal(const struct flakeid_public_ids *ids,
                                       uint64_t id,
                                       char *buffer,
                                       size_t size);

/**
 * The public form of an ID as 64 bits, without the prefix and the letter of the key. Any thread.
 *
 * FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_seal_bits(const struct flakeid_public_ids *ids,
                                            uint64_t id,
                                            uint64_t *bits);

/**
 * The ID of a public ID, by the system's clock. Any thread.
 *
 * FLAKEID_INVALID_ID, which does not say why: another key, domain or prefix, a text that was made
 * up, or an ID from before `since_ms` or from more than a minute after now. FLAKEID_NULL_ARGUMENT.
 */
flakeid_status flakeid_public_ids_open(const struct flakeid_public_ids *ids,
                                       const char *text,
                                       uint64_t *id);

/**
 * As flakeid_public_ids_open(), at an instant in Unix milliseconds. Any thread.
 */
flakeid_status flakeid_public_ids_open_at(const struct flakeid_public_ids *ids,
                                          const char *text,
                                          int64_t unix_ms,
                                          uint64_t *id);

/**
 * Frees the handle; NULL is allowed. No other call may use the handle meanwhile or later.
 */
void flakeid_public_ids_free(struct flakeid_public_ids *ids);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLAKEID_H */
