//! The requirements of a growing fleet: the number of nodes, the rate of renewals, and the stores
//! and presets that are sufficient.

use anstyle::Style;
use flakeid_core::Layout;
use flakeid_protocol::operations::MOST_RENEWED;
use serde::Serialize;

use super::documents::DocumentLoad;
use super::fleet::Fleet;
use super::limit::Limit;
use super::requirements::Requirements;
use crate::format::duration;
use crate::format::number::{grouped, rate};
use crate::format::table::{Align, Table};

/// The requirements of a fleet of a given size.
#[derive(Serialize)]
pub(super) struct Growth {
    processes: u64,
    nodes_needed: u64,
    node_bits: u32,
    ids_per_second: f64,
    renewals_per_second: f64,
    asked_per_second_after_restart: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    each_broker: Option<EachBroker>,
    presets: Vec<&'static str>,
    stores: Vec<Load>,
    transactions_per_second: f64,
    documents: Vec<DocumentLoad>,
}

/// The load of each broker.
#[derive(Serialize)]
struct EachBroker {
    renewals_per_second: f64,
    blocks: u64,
    nodes_in_a_block: u64,
}

/// The load that renewals put on one kind of store.
#[derive(Serialize)]
struct Load {
    store: &'static str,
    use_percent: f64,
    suffices: bool,
    more_connections_than_default: bool,
}

impl Growth {
    pub(super) fn steps(required: &Requirements, fleet: Fleet) -> Vec<Self> {
        fleet.growth().map(|fleet| Self::new(required, fleet)).collect()
    }

    fn new(required: &Requirements, fleet: Fleet) -> Self {
        let nodes_needed = fleet.nodes();
        let renewals_per_second = fleet.renewals_per_second();
        let required = Requirements { nodes: nodes_needed, ..*required };
        let load = |limit: &Limit| Load {
            store: limit.store,
            use_percent: limit.use_percent(renewals_per_second),
            suffices: limit.suffices(renewals_per_second),
            more_connections_than_default: limit.exceeds_connections(fleet.connections()),
        };
        let presets = Layout::presets().iter().filter(|(_, layout)| required.are_met_by(layout));
        Self {
            processes: fleet.processes,
            nodes_needed,
            node_bits: u64::BITS - (nodes_needed - 1).leading_zeros(),
            ids_per_second: fleet.processes as f64 * required.rate as f64,
            renewals_per_second,
            asked_per_second_after_restart: fleet.requests_after_restart(),
            each_broker: fleet.load_per_broker().map(|(renewals_per_second, blocks, size)| {
                EachBroker { renewals_per_second, blocks, nodes_in_a_block: size }
            }),
            presets: presets.map(|(name, _)| *name).collect(),
            stores: Limit::each().iter().map(load).collect(),
            transactions_per_second: fleet.transactions_per_second(),
            documents: DocumentLoad::each(fleet.rows(), fleet.transactions_per_second() * 60.0),
        }
    }

    /// Formats the list of sufficient stores, the list of sufficient document stores and the list
    /// of sufficient presets, each on its own line. If the fleet has brokers, a line with the load of each broker comes first.
    fn sufficient(&self) -> String {
        let stores = self.stores.iter().filter(|store| store.suffices).map(|store| {
            let mark = if store.more_connections_than_default { "*" } else { "" };
            format!("{}{mark}", store.store)
        });
        let presets = self.presets.iter().map(ToString::to_string);
        let documents = self.documents.iter().filter(|store| store.suffices);
        let sufficient = format!(
            "stores: {}\n  documents: {}\n  presets: {}",
            list(stores),
            list(documents.map(DocumentLoad::shown)),
            list(presets)
        );
        let Some(EachBroker { renewals_per_second, blocks, nodes_in_a_block }) = &self.each_broker
        else {
            return sufficient;
        };
        format!(
            "each broker: {} renewals/s, {} blocks of {nodes_in_a_block} nodes\n  {sufficient}",
            rate(renewals_per_second.ceil()),
            grouped(*blocks)
        )
    }
}

fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

pub(super) fn table(steps: &[Growth]) -> String {
    let mut table = Table::new(&[
        ("processes", Align::Right),
        ("nodes", Align::Right),
        ("node bits", Align::Right),
        ("IDs/s", Align::Right),
        ("renewals/s", Align::Right),
        ("restart/s", Align::Right),
    ]);
    for step in steps {
        let cells = vec![
            grouped(step.processes),
            grouped(step.nodes_needed),
            step.node_bits.to_string(),
            rate(step.ids_per_second),
            rate(step.renewals_per_second.ceil()),
            rate(step.asked_per_second_after_restart.ceil()),
        ];
        table.row(cells, Style::new(), Some(step.sufficient()));
    }
    table.render()
}

pub(super) fn legend(fleet: &Fleet) -> String {
    let renewal = duration::shown(fleet.renewal_ms() as u64);
    let (ttl, lifetime) = (duration::shown(fleet.ttl_ms), duration::shown(fleet.lifetime_ms));
    let load = match fleet.brokers {
        None => format!(
            "the load on the store: each process renews its lease every {renewal} on average"
        ),
        Some(brokers) => {
            let block = duration::shown(brokers.renewal_ms() as u64);
            format!(
                "the load on the store: each broker renews each block every {block}, up to {MOST_RENEWED}
            of them in one transaction, and each process renews at its broker
            every {renewal} on average"
            )
        }
    };
    let spare = match fleet.brokers {
        None => "",
        Some(_) => {
            "
            as many as one broker has, for its clients after it crashes, and
            two blocks that are not full for each broker"
        }
    };
    format!(
        "\
nodes       one for each process, and one for each that died in the last {ttl}
            (after {lifetime} on average, without releasing its node){spare}
renewals/s  {load}
restart/s   requests to the store after it restarts, until it grants again
stores      for these, the renewals are at most half of the load that one server handled
            on a machine with two processors; sqlite serves the processes of one host
documents   stores that keep a namespace as one document: requests, and their price in
            30 days in US East (N. Virginia), without the history
*           needs more connections than the default settings of the server allow
presets     these have enough nodes and meet the other requirements"
    )
}
