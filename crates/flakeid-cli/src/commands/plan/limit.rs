//! The rate of renewals and the number of connections that each kind of store can handle.

/// The load that a single server of one kind of store can handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    /// The scheme of the store's URL. For `PostgreSQL`, this is the short form `postgres`.
    pub(crate) store: &'static str,
    /// The rate of renewals measured with 10,000 holders. `docs/src/operations/scaling.md` describes the
    /// machine and lists the software versions.
    pub(crate) renewals_per_second: f64,
    /// The number of connections that the server's default settings allow. Each process uses one
    /// of these connections permanently. The value is `None` if the server sets no limit, or if
    /// this kind of store requires no permanent connections.
    pub(crate) connections: Option<u64>,
}

/// The limits of each kind of store. The rates of renewals were measured on a two-processor machine
/// that also ran the clients.
const LIMITS: [Limit; 5] = [
    Limit { store: "sqlite", renewals_per_second: 910.0, connections: None },
    Limit { store: "postgres", renewals_per_second: 2_131.0, connections: Some(100) },
    Limit { store: "mysql", renewals_per_second: 2_993.0, connections: Some(151) },
    Limit { store: "redis", renewals_per_second: 6_708.0, connections: Some(10_000) },
    Limit { store: "etcd", renewals_per_second: 1_049.0, connections: None },
];

/// The share of the measured rate that renewals may use. The remaining share is reserved for
/// acquiring nodes and for other work on the server.
const USABLE_SHARE: f64 = 0.5;

impl Limit {
    pub(crate) const fn each() -> &'static [Self] {
        &LIMITS
    }

    /// Returns the given rate of renewals as a percentage of the measured rate.
    pub(crate) fn use_percent(&self, renewals_per_second: f64) -> f64 {
        renewals_per_second * 100.0 / self.renewals_per_second
    }

    /// Whether the store can handle the given rate of renewals.
    pub(crate) fn suffices(&self, renewals_per_second: f64) -> bool {
        renewals_per_second <= self.renewals_per_second * USABLE_SHARE
    }

    /// Whether the given number of processes requires more connections than the server's default
    /// settings allow.
    pub(crate) fn exceeds_connections(&self, processes: u64) -> bool {
        self.connections.is_some_and(|connections| processes > connections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_allows_at_most_half_of_the_measured_renewal_rate() {
        for limit in Limit::each() {
            let most = limit.renewals_per_second;
            assert!(most > 0.0, "{limit:?}");
            assert!(limit.suffices(most / 2.0) && !limit.suffices(most / 2.0 + 1.0), "{limit:?}");
            assert!((limit.use_percent(most / 2.0) - 50.0).abs() < 1e-9, "{limit:?}");
        }
    }

    #[test]
    fn connection_limit_allows_one_process_per_connection() {
        let limit = Limit { store: "any", renewals_per_second: 1.0, connections: Some(100) };
        assert!(!limit.exceeds_connections(100) && limit.exceeds_connections(101));
        assert!(!Limit { connections: None, ..limit }.exceeds_connections(u64::MAX));
    }
}
