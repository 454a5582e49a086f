/// What happened to a generator besides issuing IDs. Events only: nothing is counted for an ID
/// that meets no obstacle.
///
/// Generators that share a node in one process share these counts too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls, or stalls within a `fill`, that had to wait.
    pub waits: u64,
    /// Times the clock was seen to go back.
    pub rollbacks: u64,
    /// The furthest that an ID's tick was ahead of the clock, in ticks.
    pub largest_ahead: u64,
}
