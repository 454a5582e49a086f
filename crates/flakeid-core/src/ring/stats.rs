/// What happened to a ring of pre-built IDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RingStats {
    /// IDs in the ring now.
    pub size: u64,
    /// IDs handed out.
    pub taken: u64,
    /// IDs dropped because their tick was older than `max_age`. They are never handed out.
    pub dropped_stale: u64,
    /// Refills that the generator refused, other than because its tick was full.
    pub rejected_put: u64,
    /// Calls that were refused an ID, other than because the generator was retired.
    pub rejected_take: u64,
    /// Portions put into the ring after the first filling.
    pub refills: u64,
}
