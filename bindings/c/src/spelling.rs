//! The names of options and fields in the languages that call the C library.

use flakeid_core::Spelling;

/// The spelling of names in C, such as `max_wait_ms`, for flakeid_last_error_spelled().
pub const FLAKEID_SPELLING_C: i32 = 0;
/// The spelling of names in C++, such as `max_wait`, for flakeid_last_error_spelled().
pub const FLAKEID_SPELLING_CPP: i32 = 1;
/// The spelling of names in Go, such as `WithMaxWait`, for flakeid_last_error_spelled().
pub const FLAKEID_SPELLING_GO: i32 = 2;
/// The spelling of names in Java, such as `maxWait`, for flakeid_last_error_spelled().
pub const FLAKEID_SPELLING_JAVA: i32 = 3;

/// The number of spellings.
pub(crate) const COUNT: usize = 4;

/// Returns the index and the names of the spelling with the given number. For an unknown number,
/// returns the spelling of C.
pub(crate) fn of(number: i32) -> (usize, &'static Spelling<'static>) {
    match number {
        FLAKEID_SPELLING_CPP => (1, &CPP),
        FLAKEID_SPELLING_GO => (2, &GO),
        FLAKEID_SPELLING_JAVA => (3, &JAVA),
        _ => (0, &C),
    }
}

#[rustfmt::skip]
pub(crate) const C: Spelling<'static> = Spelling {
    options: &[
        // [options: all names]
        ("namespace", "namespace_name"),
        ("nodes_from", "first_node"),
        ("nodes_to", "last_node"),
        ("window", "window_fence"),
        ("clock", "clock_name"),
        ("reuse", "never_reuse"),
        ("history", "no_history"),
        // [/options]
    ],
    fields: &[
        // [options: id names]
        ("create_namespace", "flakeid_create_namespace()"),
        ("next_id", "flakeid_generator_next()"),
        // [/options]
    ],
};

#[rustfmt::skip]
pub(crate) const CPP: Spelling<'static> = Spelling {
    options: &[
        // [options: cpp all names]
        ("namespace", "namespace_name"),
        ("nodes_from", "nodes"),
        ("nodes_to", "nodes"),
        ("ttl_ms", "ttl"),
        ("window_ms", "window"),
        ("window_start", "window"),
        ("window_fence", "window"),
        ("max_ahead_ms", "max_ahead"),
        ("max_wait_ms", "max_wait"),
        ("open_wait_ms", "open_wait"),
        ("refill_interval_ms", "refill_interval"),
        ("max_age_ms", "max_age"),
        ("max_window_ms", "max_window"),
        ("max_skew_ms", "max_skew"),
        ("quiet_ms", "quiet"),
        // [/options]
    ],
    fields: &[
        // [options: cpp id names]
        ("create_namespace", "flakeid::create_namespace()"),
        ("next_id", "next_id()"),
        // [/options]
    ],
};

#[rustfmt::skip]
pub(crate) const GO: Spelling<'static> = Spelling {
    options: &[
        // [options: go all names]
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
        ("open_wait_ms", "WithOpenWait"),
        ("clock", "WithClock"),
        ("reuse", "WithNeverReuse"),
        ("boost_power", "WithBoostPower"),
        ("padding_factor", "WithPaddingFactor"),
        ("refill_interval_ms", "WithRefillInterval"),
        ("max_age_ms", "WithMaxAge"),
        ("max_window_ms", "WithMaxWindow"),
        ("max_skew_ms", "WithMaxSkew"),
        ("quiet_ms", "WithQuiet"),
        ("block_bits", "WithBlockBits"),
        ("history", "WithHistory"),
        ("fresh", "WithFresh"),
        // [/options]
    ],
    fields: &[
        // [options: go id names]
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
        ("create_namespace", "CreateNamespace"),
        ("next_id", "NextID"),
        // [/options]
    ],
};

#[rustfmt::skip]
pub(crate) const JAVA: Spelling<'static> = Spelling {
    options: &[
        // [options: java all names]
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
        ("open_wait_ms", "openWait"),
        ("boost_power", "boostPower"),
        ("padding_factor", "paddingFactor"),
        ("refill_interval_ms", "refillInterval"),
        ("max_age_ms", "maxAge"),
        ("max_window_ms", "maxWindow"),
        ("max_skew_ms", "maxSkew"),
        ("quiet_ms", "quiet"),
        ("block_bits", "blockBits"),
        // [/options]
    ],
    fields: &[
        // [options: java id names]
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
        ("create_namespace", "Generator.namespace()"),
        ("next_id", "nextId()"),
        // [/options]
    ],
};

#[cfg(test)]
mod tests {
    use flakeid_core::{Error, ErrorKind};

    use super::*;

    #[test]
    fn message_names_the_function_of_the_callers_language() {
        let error =
            Error::new(ErrorKind::StoreRejected, "missing", None).or_call("create_namespace");
        for (spelling, function) in [
            (&C, "flakeid_create_namespace()"),
            (&CPP, "flakeid::create_namespace()"),
            (&GO, "CreateNamespace"),
            (&JAVA, "Generator.namespace()"),
        ] {
            let message = error.spelled(spelling).to_string();
            assert_eq!(message, format!("missing, or call `{function}`"));
        }
    }
}
