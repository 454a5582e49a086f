//! The number of leases that each kind of store can sustain. Holders renew through the product's
//! own operations, over a few connections, as fast as the store confirms.

mod namespace;
mod report;
mod speed;

use std::io;
use std::time::Duration;

use clap::Args;
use flakeid_protocol::store::Fault;

use crate::deployment::EmptyStore;
use crate::store_kind::StoreKind;
use namespace::{ACQUIRES, LAYOUT_NODES, TestNamespace};
use report::{Environment, Report, markdown};

/// The options of a measurement.
#[derive(Args)]
pub(crate) struct Renewals {
    /// The kind of store, except clusters.
    #[arg(long, default_value = "servers")]
    store: StoreKind,
    /// The number of seconds for which renewals are counted, for each number of holders and of
    /// connections.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Print a line of JSON for each store instead of Markdown.
    #[arg(long)]
    json: bool,
}

/// The numbers of held nodes while renewals are counted.
const HOLDERS: [u64; 2] = [1_000, 10_000];
const CONNECTIONS: [usize; 3] = [1, 4, 16];

impl Renewals {
    /// Runs the measurement and prints the results.
    pub(crate) fn run(&self) -> io::Result<bool> {
        let environment = Environment::read()?;
        if !self.json {
            println!("{}", environment.to_text());
        }
        let mut reports = Vec::new();
        for kind in self.store.each() {
            let report = self
                .measure(kind)
                .map_err(|fault| io::Error::other(format!("{}: {fault}", kind.name())))?;
            if self.json {
                println!("{}", report.json(&environment));
            }
            reports.push(report);
        }
        if !self.json {
            println!("{}", markdown(&reports));
        }
        Ok(true)
    }

    fn measure(&self, kind: StoreKind) -> Result<Report, Fault> {
        let store = EmptyStore::start(kind).map_err(|error| Fault::Rejected(error.to_string()))?;
        let mut report = Report { store: kind.name(), renewals: Vec::new(), acquires: Vec::new() };
        let empty = TestNamespace::new(&store.url, "empty")?;
        report.acquires.push((0, "new", empty.acquires(LAYOUT_NODES - 1)?));
        for holders in HOLDERS {
            let namespace = TestNamespace::new(&store.url, &format!("held-{holders}"))?;
            let mut held = namespace.fill(holders)?;
            for connections in CONNECTIONS {
                let duration = Duration::from_secs(self.seconds);
                let speed = namespace.renewals(&mut held, connections, duration)?;
                report.renewals.push((holders, connections, speed));
            }
            let released = namespace.acquires(ACQUIRES + holders - 1)?;
            report.acquires.push((holders, "released", released));
            report.acquires.push((holders, "new", namespace.acquires(LAYOUT_NODES - 1)?));
        }
        Ok(report)
    }
}
