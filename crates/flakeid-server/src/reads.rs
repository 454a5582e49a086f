//! Responses that do not issue IDs: the bounds of a time range, and the server's readiness.

use std::collections::BTreeMap;

use flakeid::broker::Broker;
use flakeid::{Generator, Lease};
use flakeid_core::{Clock, Error, Layout, SystemClock};
use serde::Serialize;

use crate::query::parameters;
use flakeid_json::{BoundsJson, EndNames, TimeRange};

/// Returns the smallest and the largest ID of a time range, as inclusive bounds.
pub(crate) fn bounds<'a>(
    layout: &Layout,
    name: &'a str,
    query: Option<&str>,
) -> Result<BoundsJson<'a>, Error> {
    let [from, to] = parameters(query, ["from", "to"])?;
    let range = TimeRange::parse(layout, &EndNames::FIELDS, from.as_deref(), to.as_deref())?;
    Ok(BoundsJson::new(&range, name))
}

/// The readiness of a generator: whether the generator can issue IDs now, and for how long it can continue to issue IDs
/// without a lease renewal.
#[derive(Serialize)]
pub(crate) struct Readiness {
    pub(crate) ready: bool,
    nodes: Vec<u64>,
    /// The number of seconds until the lease's window ends, or `null` if the generator has a fixed node.
    pub(crate) seconds_left: Option<f64>,
    /// The code of the last error, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_error: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The readiness of a server, and of each of its namespaces and brokers.
#[derive(Serialize)]
pub(crate) struct ReadinessOfAll<'a> {
    /// Whether the server is shutting down.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) draining: bool,
    pub(crate) namespaces: BTreeMap<&'a String, Readiness>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) brokers: BTreeMap<&'a String, BrokerReadiness>,
}

/// The readiness of a broker: whether the broker can grant and renew leases now, and for how long it can continue to
/// serve holders without its store.
#[derive(Default, Serialize)]
pub(crate) struct BrokerReadiness {
    pub(crate) ready: bool,
    pub(crate) blocks: usize,
    pub(crate) holders: usize,
    /// The number of seconds for which the broker can serve holders without its store. The value is `null` while the
    /// broker has no block, for example before a client requests a node.
    pub(crate) seconds_left: Option<f64>,
    pub(crate) skew_ms: i64,
    #[serde(skip)]
    pub(crate) unrecorded: u64,
    #[serde(skip)]
    pub(crate) abandoned: u64,
    /// The code of the last error, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_error: Option<String>,
}

impl BrokerReadiness {
    /// Removes the error message unless `with_message` is true, because only some clients may see error messages.
    pub(crate) fn shown(mut self, with_message: bool) -> Self {
        self.last_error = self.last_error.filter(|_| with_message);
        self
    }
}

pub(crate) fn broker_readiness(broker: &Broker) -> BrokerReadiness {
    let status = match broker.status() {
        Ok(status) => status,
        Err(fault) => {
            let namespace = &broker.namespace().name;
            let error = fault.to_error("the broker", namespace, broker.layout());
            return BrokerReadiness {
                last_error_code: Some(error.code()),
                last_error: Some(error.to_string()),
                ..BrokerReadiness::default()
            };
        }
    };
    let left = status.served_until_unix_ms.map(|end| end.saturating_sub(SystemClock.unix_ms()));
    let max_skew_ms = broker.namespace().bounds.max_skew_ms;
    let can_serve = left.map_or(status.last_error.is_none(), |left| left > 0);
    BrokerReadiness {
        ready: status.is_open && can_serve && status.skew_ms.unsigned_abs() <= max_skew_ms,
        blocks: status.blocks,
        holders: status.holders,
        seconds_left: left.map(|left| left.max(0) as f64 / 1_000.0),
        skew_ms: status.skew_ms,
        unrecorded: status.unrecorded,
        abandoned: status.abandoned,
        last_error_code: status.last_error.as_ref().map(Error::code),
        last_error: status.last_error.map(|error| error.to_string()),
    }
}

impl Readiness {
    /// Removes the error message unless `with_message` is true, because only some clients may see error messages.
    pub(crate) fn shown(mut self, with_message: bool) -> Self {
        self.last_error = self.last_error.filter(|_| with_message);
        self
    }
}

pub(crate) fn readiness(generator: &Generator) -> Readiness {
    let now = SystemClock.unix_ms();
    let lease = Lease::of(generator).map(|lease| lease.status());
    let left = lease.as_ref().map(|lease| lease.fence_unix_ms.saturating_sub(now));
    // After a step of the clock was undone, the window lasts, but its next tick is too far ahead.
    let is_too_far_ahead = generator.wait_for_clock() > generator.max_wait();
    let too_far_ahead = is_too_far_ahead.then(|| generator.try_next_id().err()).flatten();
    let last_error = too_far_ahead.or_else(|| lease.and_then(|lease| lease.last_error));
    let has_window = left.is_none_or(|left| left > 0);
    Readiness {
        ready: has_window && !is_too_far_ahead && now < generator.layout().horizon(),
        nodes: generator.nodes().to_vec(),
        seconds_left: left.map(|left| left.max(0) as f64 / 1_000.0),
        last_error_code: last_error.as_ref().map(Error::code),
        last_error: last_error.map(|error| error.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use flakeid_core::ManualClock;
    use flakeid_protocol::MemoryStore;

    use super::*;

    const HOURS_8: i64 = 8 * 3_600_000;

    #[test]
    fn generator_is_not_ready_after_a_step_forward_was_undone() {
        let now = SystemClock.unix_ms();
        let clock = ManualClock::new(now);
        let fixed = Generator::builder(Layout::TWITTER).node(7).clock(clock.clone());
        let store = MemoryStore::on(clock.clone());
        let open = move || Ok(Box::new(store.clone()) as _);
        let leased = flakeid::LeaseBuilder::from_store(Layout::TWITTER, open).clock(clock.clone());
        for generator in [fixed.build().unwrap(), leased.open().unwrap()] {
            clock.set(now + 1_000);
            generator.next_id().unwrap();
            assert!(readiness(&generator).ready, "{generator:?}");
            clock.set(now + HOURS_8);
            generator.next_id().unwrap();
            clock.set(now + 2_000);
            assert!(readiness(&generator).ready, "IDs of the latest tick are left");
            while generator.try_next_id().is_ok() {}
            let stuck = readiness(&generator);
            assert!(!stuck.ready, "{generator:?}");
            assert_eq!(stuck.last_error_code, Some("FLAKEID_CLOCK_ROLLBACK"));
            assert!(stuck.last_error.unwrap().contains("use another node"));
        }
    }
}
