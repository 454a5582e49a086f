use flakeid_core::Error;

/// How a lease stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseStatus {
    /// The first tick of the present grant.
    pub start: u64,
    /// The first tick that may not be used.
    pub fence: u64,
    /// When that tick begins, in Unix milliseconds.
    pub fence_unix_ms: i64,
    /// Until when nobody else gets the node, in Unix milliseconds of the store's clock.
    pub expires_unix_ms: i64,
    /// How many nodes were granted to this generator.
    pub grants: u64,
    /// How many renewals were confirmed.
    pub renewals: u64,
    /// How many attempts to acquire or renew had no success.
    pub failures: u64,
    /// Whether the node is another's from the fence on.
    pub fenced_off: bool,
    /// Why the latest attempt had no success; `None` once one has.
    pub last_error: Option<Error>,
}
