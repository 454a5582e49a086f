//! What a fleet that leases from brokers notices when brokers and their store are killed and restarted.

mod broker;
mod measured;
mod members;

use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_lease::protocol::Namespace;
use flakeid_lease::store::{Location, operations};
use flakeid_test_servers::{PostgresServer, Proxy, Server};
use tempfile::TempDir;

use super::issuer::{BEFORE, NAMESPACE};
use broker::BrokerProcess;
use measured::Measured;
use members::MemberProcesses;

pub(crate) use members::Members;

/// What happens to brokers.
#[derive(Clone, Copy)]
enum BrokerEvent {
    OneOfTwoKilled,
    StoreRestarted,
    RoundRobin,
    Crashes,
    CrashesOfFewNodes,
}

/// By what the number of members is divided where there are few nodes.
const FEWER: usize = 5;
/// How long the store is stopped, besides the time that stopping and starting take.
const STORE_DOWN: Duration = Duration::from_secs(4);
/// The time from one crash to the next.
const CRASH_PERIOD: Duration = Duration::from_secs(5);
/// How long members lease through a proxy.
const PROXIED: Duration = Duration::from_secs(60);

/// How much is measured.
pub(super) struct BrokerMeasurement {
    pub(super) members: usize,
    /// How long the members go on after an event.
    pub(super) after: Duration,
    /// How long a broker crashes again and again.
    pub(super) crashing: Duration,
}

impl BrokerEvent {
    const ALL: [Self; 5] = [
        Self::OneOfTwoKilled,
        Self::StoreRestarted,
        Self::RoundRobin,
        Self::Crashes,
        Self::CrashesOfFewNodes,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::OneOfTwoKilled => "two brokers: one killed",
            Self::StoreRestarted => "two brokers: PostgreSQL stopped and started",
            Self::RoundRobin => "two brokers behind a round-robin proxy",
            Self::Crashes => "one broker: killed every 5 s",
            Self::CrashesOfFewNodes => "one broker, 8 node bits: killed every 5 s",
        }
    }

    const fn brokers(self) -> usize {
        match self {
            Self::Crashes | Self::CrashesOfFewNodes => 1,
            _ => 2,
        }
    }

    fn layout(self) -> io::Result<Layout> {
        if !matches!(self, Self::CrashesOfFewNodes) {
            return Ok(Layout::TWITTER);
        }
        "t41.w8.s14@1288834974657/1ms"
            .parse()
            .map_err(|error: flakeid_core::Error| io::Error::other(error.to_string()))
    }

    const fn members(self, members: usize) -> usize {
        match self {
            Self::CrashesOfFewNodes => members.div_ceil(FEWER),
            _ => members,
        }
    }
}

impl BrokerMeasurement {
    /// Measures every event with `only` in its name and prints a table. `false` if a line misses what is
    /// promised.
    pub(super) fn run(&self, only: &str) -> io::Result<bool> {
        println!(
            "{} members, 100 IDs/s each, default bounds, PostgreSQL; times in seconds\n\n\
             | event | lasted | IDs | twice | longest time without an ID | of 99 % | longest oversleep | other nodes taken (by members) | renewals | failures | most blocks taken | no free node |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|",
            self.members
        );
        let mut all_good = true;
        for event in BrokerEvent::ALL.into_iter().filter(|event| event.name().contains(only)) {
            let (lasted, measured) = self.measure(event)?;
            println!("| {} | {:.1} | {measured} |", event.name(), lasted.as_secs_f64());
            let failures = measured.failures();
            if !failures.is_empty() {
                eprintln!("{}: failures by code: {failures:?}", event.name());
            }
            all_good &= measured.is_good();
        }
        Ok(all_good)
    }

    fn measure(&self, event: BrokerEvent) -> io::Result<(Duration, Measured)> {
        let (layout, store) = (event.layout()?, PostgresServer::new());
        let url = store.url();
        create_namespace_of_blocks(&url, layout)?;
        let mut brokers: Vec<_> =
            (0..event.brokers()).map(|_| BrokerProcess::new(&url, &layout)).collect();
        brokers.iter_mut().try_for_each(BrokerProcess::start)?;
        let proxy = Proxy::to_each(brokers.iter().map(BrokerProcess::port).collect());
        let addresses = match event {
            BrokerEvent::RoundRobin => vec![format!("localhost:{}", proxy.port())],
            _ => brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port())).collect(),
        };
        let addresses = format!("http://{}", addresses.join(","));
        let folder = TempDir::with_prefix("flakeid-brokers")?;
        let members = event.members(self.members);
        let members = MemberProcesses::start(&addresses, &layout, members, folder.path())?;
        sleep(BEFORE);
        let mut taken = TakenBlocks::default();
        taken.count(&url)?;
        let began = Instant::now();
        match event {
            BrokerEvent::OneOfTwoKilled => brokers[0].kill(),
            BrokerEvent::StoreRestarted => {
                store.stop();
                sleep(STORE_DOWN);
                store.start();
            }
            BrokerEvent::RoundRobin => sleep(PROXIED),
            BrokerEvent::Crashes | BrokerEvent::CrashesOfFewNodes => {
                while began.elapsed() < self.crashing {
                    let next = Instant::now() + CRASH_PERIOD;
                    brokers[0].kill();
                    brokers[0].start()?;
                    sleep(next.saturating_duration_since(Instant::now()));
                    taken.count(&url)?;
                }
            }
        }
        let lasted = began.elapsed();
        sleep(self.after / 2);
        taken.count(&url)?;
        sleep(self.after / 2);
        let (members, ids) = members.end()?;
        Ok((lasted, Measured::new(members, ids, (taken.most, taken.blocks))))
    }
}

/// The namespace, with the default bounds and blocks of the usual size.
fn create_namespace_of_blocks(url: &str, layout: Layout) -> io::Result<()> {
    let block_bits = Namespace::usual_block_bits(&layout)
        .ok_or_else(|| io::Error::other(format!("{layout} has too few nodes for blocks")))?;
    let wanted = Namespace { block_bits, ..Namespace::new(NAMESPACE, layout) };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let location = Location::parse(url).map_err(|error| io::Error::other(error.to_string()))?;
    let mut store = location.connect(&clock).map_err(io::Error::other)?;
    operations::init(&mut *store, &wanted).map(drop).map_err(io::Error::other)
}

/// How many blocks nobody else could have been granted.
#[derive(Default)]
struct TakenBlocks {
    most: usize,
    blocks: u64,
}

impl TakenBlocks {
    fn count(&mut self, url: &str) -> io::Result<()> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let location = Location::parse(url).map_err(|error| io::Error::other(error.to_string()))?;
        let mut store = location.connect(&clock).map_err(io::Error::other)?;
        let listing = operations::list(&mut *store, NAMESPACE).map_err(io::Error::other)?;
        let taken = listing.rows.iter().filter(|row| row.expires > listing.now).count();
        self.most = self.most.max(taken);
        self.blocks = listing.namespace.max_row() + 1;
        Ok(())
    }
}
