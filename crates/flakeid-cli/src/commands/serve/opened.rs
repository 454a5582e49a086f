//! The generators and brokers that the server opens. Each namespace has a generator, a broker, or
//! both.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeid::broker::Broker;
use flakeid::{Generator, LeaseBuilder};
use flakeid_core::{Error, Layout};
use flakeid_json::layout_name;
use flakeid_stores::Location;

use super::leasing::Leasing;
use crate::failure::Failure;

/// The longest time for which the server waits until the store grants nodes again. With the default bounds, the store
/// waits for 15 s. A server that exits instead may be restarted too late, when the store waits again.
const LONGEST_QUIET: Duration = Duration::from_secs(60);

/// The generators by namespace, the brokers, and a description of each namespace.
pub(super) struct Opened {
    pub(super) generators: BTreeMap<String, Generator>,
    pub(super) brokers: Vec<Broker>,
    pub(super) descriptions: Vec<String>,
}

/// Leases the nodes for each namespace: blocks of nodes for a broker, or a single node if the
/// namespace has no broker.
pub(super) fn open_all(
    names: &[String],
    leasing: Option<&Leasing>,
    location: &Location,
    layout: Layout,
    with_ids: bool,
) -> Result<Opened, Failure> {
    let mut descriptions = Vec::new();
    let mut generators = BTreeMap::new();
    let mut brokers: Vec<Broker> = Vec::new();
    for name in names {
        if names.iter().filter(|other| *other == name).count() > 1 {
            return Err(
                Error::invalid_option("namespace", &format!("{name} is given twice")).into()
            );
        }
        let broker = leasing.map(|leasing| leasing.broker(name)).transpose()?.flatten();
        let builder = match &broker {
            Some(broker) => LeaseBuilder::from_broker(broker),
            None => LeaseBuilder::from_location(location.clone(), layout).namespace(name),
        };
        let mut what = layout_name(&layout);
        if !with_ids && broker.is_none() {
            let reason = format!(
                "the nodes of namespace {name} are leased from the store one by one, so this server has no \
                 leases to serve: omit --no-ids, or serve a namespace with blocks"
            );
            return Err(Error::invalid_option("no-ids", &reason).into());
        }
        if with_ids {
            let generator = builder.open_wait(LONGEST_QUIET).open()?;
            what.extend(generator.node().map(|node| format!(", node {node}")));
            generators.insert(name.clone(), generator);
        }
        if broker.is_some() {
            what.push_str(", leases");
        }
        descriptions.push(format!("{name} ({what})"));
        brokers.extend(broker);
    }
    Ok(Opened { generators, brokers, descriptions })
}
