//! The effects of failing brokers, and of their store, on a fleet that leases from the brokers.

mod broker;
mod event;
mod measured;
mod members;
mod requests;

use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Namespace, operations};
use flakeid_stores::Location;
use flakeid_test_servers::{PostgresServer, Proxy, Server};
use tempfile::TempDir;

use super::issuer::{BEFORE, NAMESPACE};
use broker::BrokerProcess;
use event::{BrokerEvent, Servers};
use measured::Measured;
use members::{MemberProcesses, Runtimes};

pub(crate) use members::{Languages, Members};
pub(crate) use requests::StoreRequests;

/// The time for which the measurement itself waits for a store on a busy machine.
const STORE_TIMEOUT: Duration = Duration::from_secs(30);

/// The scale of a measurement.
pub(super) struct BrokerMeasurement<'a> {
    pub(super) members: usize,
    /// The time for which members continue after an event.
    pub(super) after: Duration,
    /// The time for which a broker crashes repeatedly.
    pub(super) crashing: Duration,
    /// The runtimes of members in other languages.
    pub(super) languages: &'a Languages,
}

impl BrokerMeasurement<'_> {
    /// Measures every event with `only` in its name, and prints a table. Returns `false` if a result
    /// violates a promise.
    pub(super) fn run(&self, only: &str) -> io::Result<bool> {
        let runtimes = Runtimes::of(self.languages);
        println!(
            "{} members, 100 IDs/s each, default bounds, PostgreSQL; times in seconds\n\n\
             | event | lasted | IDs | twice | longest time without an ID ({runtimes}) | of 99 % | longest oversleep | a new client waits | other nodes taken (by members) | renewals | failures | most blocks taken | no free node |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|",
            self.members
        );
        let mut all_good = true;
        for event in BrokerEvent::ALL.into_iter().filter(|event| event.name().contains(only)) {
            let (lasted, measured) = self.measure(event, &runtimes)?;
            println!("| {} | {:.1} | {measured} |", event.name(), lasted.as_secs_f64());
            let failures = measured.failures();
            if !failures.is_empty() {
                eprintln!("{}: failures by code: {failures:?}", event.name());
            }
            all_good &= measured.is_good();
        }
        Ok(all_good)
    }

    fn measure(&self, event: BrokerEvent, runtimes: &Runtimes) -> io::Result<(Duration, Measured)> {
        let (layout, store) = (event.layout()?, PostgresServer::new());
        let url = store.url();
        create_namespace_of_blocks(&url, layout)?;
        // The first broker connects to the store through a separate network.
        let network = Proxy::to(store.port());
        let own_url = store.url_at(network.port());
        let mut brokers = Vec::new();
        for number in 0..event.brokers() {
            let reached = if number == 0 { &own_url } else { &url };
            let broker = BrokerProcess::new(reached, &layout);
            let has_clock = number == 0 && matches!(event, BrokerEvent::WrongClock(_));
            brokers.push(if has_clock { broker.with_clock()? } else { broker });
        }
        brokers.iter_mut().try_for_each(BrokerProcess::start)?;
        let proxy = Proxy::to_each(brokers.iter().map(BrokerProcess::port).collect());
        let addresses = match event {
            BrokerEvent::RoundRobin => vec![format!("localhost:{}", proxy.port())],
            _ => brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port())).collect(),
        };
        let addresses = format!("http://{}", addresses.join(","));
        let folder = TempDir::with_prefix("flakeid-brokers")?;
        let start = |members, name: &str| {
            let folder = folder.path().join(name);
            MemberProcesses::start(&addresses, &layout, members, &folder, runtimes)
        };
        let members = start(event.members(self.members), "members")?;
        sleep(BEFORE);
        let mut taken = TakenBlocks::default();
        taken.count(&url)?;
        let began = Instant::now();
        let (store, network, crashing) = (&store, &network, self.crashing);
        let mut servers = Servers { store, network, brokers: &mut brokers, layout, crashing };
        let mut newcomers = None;
        let add_newcomers = || {
            if event.newcomers() > 0 {
                newcomers = Some(start(event.newcomers(), "newcomers")?);
            }
            Ok(())
        };
        event.happen(&mut servers, add_newcomers, || taken.count(&url))?;
        let lasted = began.elapsed();
        sleep(self.after / 2);
        taken.count(&url)?;
        sleep(self.after / 2);
        let (members, mut ids) = members.end()?;
        let (newcomers, more) =
            newcomers.map_or_else(|| Ok(Default::default()), MemberProcesses::end)?;
        ids.extend(more);
        Ok((lasted, Measured::new(members, newcomers, ids, (taken.most, taken.blocks))))
    }
}

/// Creates the namespace with the default bounds and blocks of the default size.
fn create_namespace_of_blocks(url: &str, layout: Layout) -> io::Result<()> {
    let block_bits = Namespace::default_block_bits(&layout)
        .ok_or_else(|| io::Error::other(format!("{layout} has too few nodes for blocks")))?;
    create_namespace(url, &Namespace { block_bits, ..Namespace::new(NAMESPACE, layout) })
}

/// Creates a namespace. Repeats the attempt while the store is unavailable.
fn create_namespace(url: &str, wanted: &Namespace) -> io::Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let location = Location::parse(url).map_err(|error| io::Error::other(error.to_string()))?;
    retry_unavailable(|| operations::init(&mut *location.connect(&clock)?, wanted)).map(drop)
}

/// Repeats an operation of the measurement itself while the store is unavailable, because a busy machine can be too
/// slow for the store's time limits.
fn retry_unavailable<T>(mut operation: impl FnMut() -> Result<T, Fault>) -> io::Result<T> {
    let deadline = Instant::now() + STORE_TIMEOUT;
    loop {
        match operation() {
            Err(Fault::Unavailable(_)) if Instant::now() < deadline => {}
            outcome => return outcome.map_err(io::Error::other),
        }
    }
}

/// The largest number of blocks that were taken at the same time, and the number of all blocks.
#[derive(Default)]
struct TakenBlocks {
    most: usize,
    blocks: u64,
}

impl TakenBlocks {
    fn count(&mut self, url: &str) -> io::Result<()> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let location = Location::parse(url).map_err(|error| io::Error::other(error.to_string()))?;
        let listing =
            retry_unavailable(|| operations::list(&mut *location.connect(&clock)?, NAMESPACE))?;
        let taken = listing.rows.iter().filter(|row| row.expires > listing.now).count();
        self.most = self.most.max(taken);
        self.blocks = listing.namespace.max_row() + 1;
        Ok(())
    }
}
