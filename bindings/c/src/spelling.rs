//! The names of options and fields in the languages that call the C library.

use flakeid_core::Spelling;

/// For flakeid_last_error_spelled: names as C spells them, `max_wait_ms`.
pub const FLAKEID_SPELLING_C: i32 = 0;
/// For flakeid_last_error_spelled: names as C++ spells them, `max_wait`.
pub const FLAKEID_SPELLING_CPP: i32 = 1;
/// For flakeid_last_error_spelled: names as Go spells them, `WithMaxWait`.
pub const FLAKEID_SPELLING_GO: i32 = 2;
/// For flakeid_last_error_spelled: names as Java spells them, `maxWait`.
pub const FLAKEID_SPELLING_JAVA: i32 = 3;

/// The number of spellings.
pub(crate) const COUNT: usize = 4;

/// Returns the index of a spelling and its names; C's for any other number.
pub(crate) fn of(number: i32) -> (usize, &'static Spelling<'static>) {
    match number {
        FLAKEID_SPELLING_CPP => (1, &CPP),
        FLAKEID_SPELLING_GO => (2, &GO),
        FLAKEID_SPELLING_JAVA => (3, &JAVA),
        _ => (0, &C),
    }
}

// [options: generator c]
#[rustfmt::skip]
pub(crate) const C: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        ("namespace", "namespace_name"),
        ("nodes_from", "first_node"),
        ("nodes_to", "last_node"),
        ("window", "window_fence"),
        ("clock", "clock_name"),
        ("reuse", "never_reuse"),
    ],
    fields: &[
    ],
};
// [/options]

// [options: generator cpp]
#[rustfmt::skip]
pub(crate) const CPP: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        ("namespace", "namespace_name"),
        ("nodes_from", "nodes"),
        ("nodes_to", "nodes"),
        ("ttl_ms", "ttl"),
        ("window_ms", "window"),
        ("window_start", "window"),
        ("window_fence", "window"),
        ("max_ahead_ms", "max_ahead"),
        ("max_wait_ms", "max_wait"),
        ("refill_interval_ms", "refill_interval"),
        ("max_age_ms", "max_age"),
    ],
    fields: &[
    ],
};
// [/options]

// [options: generator go]
#[rustfmt::skip]
pub(crate) const GO: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        ("namespace", "WithNamespace"),
        ("name", "WithName"),
        ("token", "WithToken"),
        ("node", "WithNode"),
        ("datacenter", "WithDatacenter"),
        ("worker", "WithWorker"),
        ("nodes", "WithNodes"),
        ("nodes_from", "WithNodeRange"),
        ("nodes_to", "WithNodeRange"),
        ("node_count", "WithNodeCount"),
        ("layout", "WithLayout"),
        ("epoch", "WithEpoch"),
        ("ttl_ms", "WithTTL"),
        ("window_ms", "WithLeaseWindow"),
        ("window_start", "WithWindow"),
        ("window_fence", "WithWindow"),
        ("window", "WithWindow"),
        ("overflow", "WithOverflow"),
        ("rollback", "WithRollback"),
        ("sequence_mask", "WithSequenceMask"),
        ("sequence_start", "WithSequenceStart"),
        ("max_ahead_ms", "WithMaxAhead"),
        ("max_wait_ms", "WithMaxWait"),
        ("clock", "WithClock"),
        ("reuse", "WithNeverReuse"),
        ("boost_power", "WithBoostPower"),
        ("padding_factor", "WithPaddingFactor"),
        ("refill_interval_ms", "WithRefillInterval"),
        ("max_age_ms", "WithMaxAge"),
    ],
    fields: &[
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
    ],
};
// [/options]

// [options: generator java]
#[rustfmt::skip]
pub(crate) const JAVA: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        ("nodes_from", "nodes"),
        ("nodes_to", "nodes"),
        ("node_count", "nodeCount"),
        ("ttl_ms", "ttl"),
        ("window_ms", "window"),
        ("window_start", "window"),
        ("window_fence", "window"),
        ("sequence_mask", "sequenceMask"),
        ("sequence_start", "sequenceStart"),
        ("max_ahead_ms", "maxAhead"),
        ("max_wait_ms", "maxWait"),
        ("boost_power", "boostPower"),
        ("padding_factor", "paddingFactor"),
        ("refill_interval_ms", "refillInterval"),
        ("max_age_ms", "maxAge"),
    ],
    fields: &[
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
    ],
};
// [/options]
