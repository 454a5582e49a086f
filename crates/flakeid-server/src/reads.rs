//! Responses without new IDs: the bounds of a time range, and the readiness of the server.

use std::collections::BTreeMap;

use flakeid::Generator;
use flakeid::broker::Broker;
use flakeid_core::{Clock, Error, Layout, SystemClock};
use serde::Serialize;

use crate::query::parameters;
use flakeid_json::{BoundsJson, EndNames, TimeRange};

/// Returns the smallest and the largest ID of a range, both inclusive.
pub(crate) fn bounds<'a>(
    layout: &Layout,
    name: &'a str,
    query: Option<&str>,
) -> Result<BoundsJson<'a>, Error> {
    let [from, to] = parameters(query, ["from", "to"])?;
    let range = TimeRange::parse(layout, &EndNames::FIELDS, from.as_deref(), to.as_deref())?;
    Ok(BoundsJson::new(&range, name))
}

/// The readiness of a generator: whether it can issue IDs now, and for how much longer without a
/// renewal.
#[derive(Serialize)]
pub(crate) struct Readiness {
    pub(crate) ready: bool,
    nodes: Vec<u64>,
    /// The number of seconds until the window ends, or `null` for a fixed node.
    pub(crate) seconds_left: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
}

/// The readiness of a whole server.
#[derive(Serialize)]
pub(crate) struct ReadinessOfAll<'a> {
    pub(crate) namespaces: BTreeMap<&'a String, Readiness>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) brokers: BTreeMap<&'a String, BrokerReadiness>,
}

/// The readiness of a broker: whether it can grant and renew leases now, and for how much longer
/// without its store.
#[derive(Default, Serialize)]
pub(crate) struct BrokerReadiness {
    pub(crate) ready: bool,
    pub(crate) blocks: usize,
    pub(crate) holders: usize,
    /// The number of seconds, or `null` while there is no block because no client has requested a
    /// node.
    pub(crate) seconds_left: Option<f64>,
    pub(crate) skew_ms: i64,
    #[serde(skip)]
    pub(crate) unrecorded: u64,
    #[serde(skip)]
    pub(crate) abandoned: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
}

pub(crate) fn broker_readiness(broker: &Broker) -> BrokerReadiness {
    let status = match broker.status() {
        Ok(status) => status,
        Err(fault) => {
            let last_error = Some(fault.to_string());
            return BrokerReadiness { last_error, ..BrokerReadiness::default() };
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
        last_error: status.last_error.map(|error| error.to_string()),
    }
}

pub(crate) fn readiness(generator: &Generator) -> Readiness {
    let now = SystemClock.unix_ms();
    let lease = generator.lease_status();
    let left = lease.as_ref().map(|lease| lease.fence_unix_ms.saturating_sub(now));
    Readiness {
        ready: left.is_none_or(|left| left > 0) && now < generator.layout().horizon(),
        nodes: generator.nodes().into_owned(),
        seconds_left: left.map(|left| left.max(0) as f64 / 1_000.0),
        last_error: lease.and_then(|lease| lease.last_error).map(|error| error.to_string()),
    }
}
