//! The number of requests that brokers send to a store.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use flakeid_core::Layout;
use flakeid_protocol::{Bounds, Namespace};
use tempfile::TempDir;

use super::super::issuer::NAMESPACE;
use super::broker::BrokerProcess;
use super::create_namespace;
use super::members::{MemberProcesses, Runtimes};
use crate::deployment::{self, Deployment};
use crate::store_kind::StoreKind;

/// The options of a measurement.
#[derive(Args)]
pub(crate) struct StoreRequests {
    /// The kind of store, except clusters, and except `SQLite`.
    #[arg(long)]
    store: StoreKind,
    /// The number of members. Each one issues an ID per second.
    #[arg(long, default_value_t = 1000)]
    members: usize,
    /// The number of minutes for which requests are counted.
    #[arg(long, default_value_t = 4)]
    minutes: u32,
    /// The length of the blocks' windows, in seconds.
    #[arg(long, default_value_t = 10)]
    window: u64,
}

/// The number of brokers.
const BROKERS: usize = 2;
/// A layout with 16,384 nodes, so that 1,000 members need a small part of them.
const LAYOUT: &str = "t41.n14.s8@1767225600000/1ms";
/// Blocks have 16 nodes.
const BLOCK_BITS: u32 = 4;
/// The time between two IDs of a member. The number of requests does not depend on the number of IDs.
const PERIOD: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// The time that members have to start.
const START: Duration = Duration::from_secs(30);

impl StoreRequests {
    /// Counts the requests and prints them. Returns `false` if an ID was issued twice.
    pub(crate) fn run(&self) -> io::Result<bool> {
        let layout: Layout = LAYOUT.parse().map_err(io::Error::other)?;
        let store = deployment::deploy_server(self.store)?;
        let count = || (0..BROKERS).map(|broker| store.requests(broker)).collect::<Vec<_>>();
        let bounds = Bounds { max_window_ms: self.window * 1_000, ..Bounds::of(&layout) };
        let bounds = bounds.with_usual_quiet(&layout);
        let namespace =
            Namespace { block_bits: BLOCK_BITS, bounds, ..Namespace::new(NAMESPACE, layout) };
        create_namespace(&store.direct_url(), &namespace)?;
        // Each broker reaches the store through a proxy of its own.
        let mut brokers: Vec<_> =
            (0..BROKERS).map(|broker| BrokerProcess::new(&store.url(broker), &layout)).collect();
        brokers.iter_mut().try_for_each(BrokerProcess::start)?;
        let addresses: Vec<_> =
            brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port())).collect();
        let addresses = format!("http://{}", addresses.join(","));
        let folder = TempDir::with_prefix("flakeid-requests")?;
        let runtimes = Runtimes::rust_only(PERIOD);
        let members =
            MemberProcesses::start(&addresses, &layout, self.members, folder.path(), &runtimes)?;
        sleep(START);
        let mut counts = vec![count()];
        for _ in 0..self.minutes {
            sleep(MINUTE);
            counts.push(count());
        }
        let (_, mut ids) = members.end()?;
        ids.sort_unstable();
        let repeated = ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
        println!(
            "{}, {} members, {BROKERS} brokers, blocks with windows of {} s, {} IDs, {repeated} repeated",
            self.store.title(),
            self.members,
            self.window,
            ids.len()
        );
        for (minute, counts) in counts.windows(2).enumerate() {
            let of_each = counts[1].iter().zip(&counts[0]).map(|(after, before)| after - before);
            println!("minute {}: {:?} requests", minute + 1, of_each.collect::<Vec<_>>());
        }
        Ok(repeated == 0)
    }
}
