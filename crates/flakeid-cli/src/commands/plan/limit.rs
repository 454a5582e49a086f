/// What one server of a kind took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    /// As in the store's URL, for `PostgreSQL` shorter.
    pub(crate) store: &'static str,
    /// Measured with 10,000 holders: DESIGN.md, section Scaling, says where and with what.
    pub(crate) renewals_per_second: f64,
    /// How many connections its own settings allow; every process keeps one. `None` where it does
    /// not, or nothing counts them.
    pub(crate) connections: Option<u64>,
}

/// Each on a machine of two processors that also ran the clients.
const LIMITS: [Limit; 5] = [
    Limit { store: "sqlite", renewals_per_second: 910.0, connections: None },
    Limit { store: "postgres", renewals_per_second: 2_131.0, connections: Some(100) },
    Limit { store: "mysql", renewals_per_second: 2_993.0, connections: Some(151) },
    Limit { store: "redis", renewals_per_second: 6_708.0, connections: Some(10_000) },
    Limit { store: "etcd", renewals_per_second: 1_049.0, connections: None },
];

/// The share of what was measured that is planned with: acquires, and whatever else the server
/// does, take the rest.
const SHARE: f64 = 0.5;

impl Limit {
    pub(crate) const fn each() -> &'static [Self] {
        &LIMITS
    }

    /// How much of what was measured so many renewals are, in percent.
    pub(crate) fn use_percent(&self, renewals_per_second: f64) -> f64 {
        renewals_per_second * 100.0 / self.renewals_per_second
    }

    /// Whether the store is still the right one.
    pub(crate) fn suffices(&self, renewals_per_second: f64) -> bool {
        renewals_per_second <= self.renewals_per_second * SHARE
    }

    /// Whether its settings have to allow more connections than they do by default.
    pub(crate) fn is_crowded(&self, processes: u64) -> bool {
        self.connections.is_some_and(|connections| processes > connections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_was_measured_is_planned_with() {
        for limit in Limit::each() {
            let most = limit.renewals_per_second;
            assert!(most > 0.0, "{limit:?}");
            assert!(limit.suffices(most / 2.0) && !limit.suffices(most / 2.0 + 1.0), "{limit:?}");
            assert!((limit.use_percent(most / 2.0) - 50.0).abs() < 1e-9, "{limit:?}");
        }
    }

    #[test]
    fn one_more_process_than_connections_is_a_crowd() {
        let limit = Limit { store: "any", renewals_per_second: 1.0, connections: Some(100) };
        assert!(!limit.is_crowded(100) && limit.is_crowded(101));
        assert!(!Limit { connections: None, ..limit }.is_crowded(u64::MAX));
    }
}
