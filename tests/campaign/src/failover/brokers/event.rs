//! The events of a measurement: failures of brokers and of their store.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::Layout;
use flakeid_protocol::Acquire;
use flakeid_stores::fresh_token;
use flakeid_test_servers::{OtherService, PostgresServer, Proxy, Server};

use super::super::issuer::NAMESPACE;
use super::broker::BrokerProcess;
use crate::stores::HeldNodes;

/// An event that affects brokers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BrokerEvent {
    OneOfTwoKilled,
    BothRestarted,
    StoreRestarted,
    RoundRobin,
    CutOff,
    Impersonated(OtherService),
    WrongClock(i64),
    Full,
    RestartedWithStore,
    Crashes,
    CrashesOfFewNodes,
}

/// The divisor of the number of members for layouts with few nodes.
const MEMBER_DIVISOR: usize = 5;
/// The number of members when the nodes of one broker's block must suffice for all.
const FEW_MEMBERS: usize = 8;
/// The time for which the store is down, in addition to stopping and starting it.
const STORE_DOWN: Duration = Duration::from_secs(4);
/// The time between the restart of one broker and the end of the other.
const BETWEEN_RESTARTS: Duration = Duration::from_secs(5);
/// The time between two crashes.
const CRASH_PERIOD: Duration = Duration::from_secs(5);
/// The time for which members lease through a proxy.
const PROXIED: Duration = Duration::from_secs(60);
/// The time for which a broker cannot serve its clients: longer than its blocks, and the windows in
/// them, last.
const UNUSABLE: Duration = Duration::from_secs(25);
/// The time for which a broker is full. The nodes that fill it are not renewed.
const FULL: Duration = Duration::from_secs(8);

/// The servers that an event affects.
pub(super) struct Servers<'a> {
    pub(super) store: &'a PostgresServer,
    /// The network between the first broker and the store.
    pub(super) network: &'a Proxy,
    pub(super) brokers: &'a mut [BrokerProcess],
    pub(super) layout: Layout,
    /// The time for which a broker crashes repeatedly.
    pub(super) crashing: Duration,
}

impl BrokerEvent {
    pub(super) const ALL: [Self; 15] = [
        Self::OneOfTwoKilled,
        Self::BothRestarted,
        Self::StoreRestarted,
        Self::RoundRobin,
        Self::CutOff,
        Self::Impersonated(OtherService::NotFound),
        Self::Impersonated(OtherService::Html),
        Self::Impersonated(OtherService::Redirect),
        Self::Impersonated(OtherService::Silent),
        Self::WrongClock(1_500),
        Self::WrongClock(-30_000),
        Self::Full,
        Self::RestartedWithStore,
        Self::Crashes,
        Self::CrashesOfFewNodes,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::OneOfTwoKilled => "two brokers: one killed",
            Self::BothRestarted => "two brokers: each stopped and started in turn",
            Self::StoreRestarted => "two brokers: PostgreSQL stopped and started",
            Self::RoundRobin => "two brokers behind a round-robin proxy",
            Self::CutOff => "two brokers: one cut off from PostgreSQL",
            Self::Impersonated(OtherService::NotFound) => {
                "two brokers: status 404 at the address of one"
            }
            Self::Impersonated(OtherService::Html) => "two brokers: a page at the address of one",
            Self::Impersonated(OtherService::Redirect) => {
                "two brokers: a redirect at the address of one"
            }
            Self::Impersonated(_) => "two brokers: no answer at the address of one",
            Self::WrongClock(ms) if ms > 0 => "two brokers: the clock of one 1.5 s ahead",
            Self::WrongClock(_) => "two brokers: the clock of one 30 s behind",
            Self::Full => "two brokers: one full",
            Self::RestartedWithStore => "two brokers: one killed and started with PostgreSQL",
            Self::Crashes => "one broker: killed every 5 s",
            Self::CrashesOfFewNodes => "one broker, 8 node bits: killed every 5 s",
        }
    }

    pub(super) const fn brokers(self) -> usize {
        match self {
            Self::Crashes | Self::CrashesOfFewNodes => 1,
            _ => 2,
        }
    }

    pub(super) fn layout(self) -> io::Result<Layout> {
        let descriptor = match self {
            Self::CrashesOfFewNodes | Self::Full => "t41.n8.s14@1288834974657/1ms",
            // While members move, most hold two nodes.
            Self::BothRestarted => "t41.n13.s9@1288834974657/1ms",
            _ => return Ok(Layout::TWITTER),
        };
        descriptor.parse().map_err(|error: flakeid_core::Error| io::Error::other(error.to_string()))
    }

    pub(super) fn members(self, members: usize) -> usize {
        match self {
            Self::CrashesOfFewNodes | Self::Full => members.div_ceil(MEMBER_DIVISOR),
            Self::RestartedWithStore => members.min(FEW_MEMBERS),
            _ => members,
        }
    }

    /// Returns the number of members that start during the event: 0 if the event may take all
    /// nodes.
    pub(super) const fn newcomers(self) -> usize {
        match self {
            Self::Crashes
            | Self::CrashesOfFewNodes
            | Self::RestartedWithStore
            | Self::StoreRestarted => 0,
            _ => 10,
        }
    }

    /// Starts the event, then the new members, and ends the event after some time.
    pub(super) fn happen(
        self,
        servers: &mut Servers<'_>,
        newcomers: impl FnOnce() -> io::Result<()>,
        mut count: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let Servers { store, network, brokers, .. } = servers;
        match self {
            Self::OneOfTwoKilled => {
                brokers[0].kill();
                newcomers()
            }
            Self::BothRestarted => {
                brokers[0].stop()?;
                brokers[0].start()?;
                newcomers()?;
                sleep(BETWEEN_RESTARTS);
                brokers[1].stop()?;
                brokers[1].start()
            }
            Self::StoreRestarted => {
                store.stop();
                newcomers()?;
                sleep(STORE_DOWN);
                store.start();
                Ok(())
            }
            Self::RoundRobin => {
                newcomers()?;
                sleep(PROXIED);
                Ok(())
            }
            Self::CutOff => {
                network.cut();
                network.reset();
                sleep(UNUSABLE / 2);
                newcomers()?;
                sleep(UNUSABLE / 2);
                network.heal();
                Ok(())
            }
            Self::Impersonated(other_service) => {
                brokers[0].kill();
                let address = ([127, 0, 0, 1], brokers[0].port()).into();
                let _other_service = other_service.listen_at(address);
                sleep(UNUSABLE / 2);
                newcomers()?;
                sleep(UNUSABLE / 2);
                Ok(())
            }
            Self::WrongClock(ms) => {
                brokers[0].set_clock_error(ms)?;
                sleep(UNUSABLE / 2);
                newcomers()?;
                sleep(UNUSABLE / 2);
                brokers[0].set_clock_error(0)
            }
            Self::Full => {
                let held = fill_first(servers)?;
                newcomers()?;
                sleep(FULL);
                drop(held);
                Ok(())
            }
            Self::RestartedWithStore => {
                store.kill();
                brokers[0].kill();
                store.start();
                brokers[0].start()?;
                sleep(UNUSABLE);
                Ok(())
            }
            Self::Crashes | Self::CrashesOfFewNodes => {
                let began = Instant::now();
                while began.elapsed() < servers.crashing {
                    let next = Instant::now() + CRASH_PERIOD;
                    servers.brokers[0].kill();
                    servers.brokers[0].start()?;
                    sleep(next.saturating_duration_since(Instant::now()));
                    count()?;
                }
                Ok(())
            }
        }
    }
}

/// Takes all nodes of the first broker, which leases all free blocks for them, but leaves room in
/// the blocks of the other broker.
fn fill_first(servers: &Servers<'_>) -> io::Result<[HeldNodes; 2]> {
    /// The number of nodes to lease from the other broker: those of several blocks.
    const ROOM: usize = 40;
    let (brokers, layout) = (&servers.brokers, servers.layout);
    let request = Acquire { window_ms: 4_000, ..Acquire::any_node(layout, fresh_token(), 0) };
    let lease = |broker: usize, most: usize| {
        HeldNodes::lease(&brokers[broker].url(), NAMESPACE, &request, |count| count >= most)
    };
    let mut of_other = lease(1, ROOM)?;
    let of_full = lease(0, usize::MAX)?;
    // A part of each block stays leased, so that the broker keeps the block.
    of_other.release(|number| !number.is_multiple_of(4));
    Ok([of_full, of_other])
}
