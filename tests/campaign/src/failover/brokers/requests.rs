//! The number of requests that brokers send to a store.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use flakeid_core::Layout;
use flakeid_protocol::{Bounds, Namespace};
use flakeid_test_servers::{KubernetesServer, Proxy, Server};
use tempfile::TempDir;

use super::super::issuer::NAMESPACE;
use super::broker::BrokerProcess;
use super::create_namespace;
use super::members::{MemberProcesses, Runtimes};
use crate::deployment::EmptyStore;
use crate::store_kind::StoreKind;
use crate::stores::port_of;

/// The options of a measurement.
#[derive(Args)]
pub(crate) struct Requests {
    /// The kind of store, except clusters, and except `SQLite`.
    #[arg(long)]
    store: StoreKind,
    /// The number of members. Each one issues an ID per second.
    #[arg(long, default_value_t = 1000)]
    members: usize,
    /// The number of minutes for which requests are counted.
    #[arg(long, default_value_t = 3)]
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

/// A store, and the networks between the brokers and the store.
struct Counted {
    url: String,
    proxies: Vec<Proxy>,
    /// The URLs of the store through the proxies.
    urls: Vec<String>,
    _store: Box<dyn Send>,
}

impl Counted {
    fn start(kind: StoreKind) -> io::Result<Self> {
        let proxies = |port| (0..BROKERS).map(|_| Proxy::to(port)).collect::<Vec<_>>();
        if kind == StoreKind::Kubernetes {
            let server = KubernetesServer::new();
            let proxies = proxies(server.port());
            let urls = proxies.iter().map(|proxy| server.url_at(proxy.port())).collect();
            return Ok(Self { url: server.url(), proxies, urls, _store: Box::new(server) });
        }
        let store = EmptyStore::start(kind)?;
        let url = store.url.clone();
        let port = port_of(&url)?;
        let proxies = proxies(port);
        let through = |proxy: &Proxy| {
            url.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", proxy.port()))
        };
        let urls = proxies.iter().map(through).collect();
        Ok(Self { url, proxies, urls, _store: Box::new(store) })
    }

    fn requests(&self) -> Vec<u64> {
        self.proxies.iter().map(Proxy::requests).collect()
    }
}

impl Requests {
    /// Counts the requests and prints them. Returns `false` if an ID was issued twice.
    pub(crate) fn run(&self) -> io::Result<bool> {
        let layout: Layout = LAYOUT.parse().map_err(io::Error::other)?;
        let store = Counted::start(self.store)?;
        let bounds = Bounds { max_window_ms: self.window * 1_000, ..Bounds::of(&layout) };
        let bounds = bounds.with_usual_quiet(&layout);
        let namespace =
            Namespace { block_bits: BLOCK_BITS, bounds, ..Namespace::new(NAMESPACE, layout) };
        create_namespace(&store.url, &namespace)?;
        let mut brokers: Vec<_> =
            store.urls.iter().map(|url| BrokerProcess::new(url, &layout)).collect();
        brokers.iter_mut().try_for_each(BrokerProcess::start)?;
        let addresses: Vec<_> =
            brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port())).collect();
        let addresses = format!("http://{}", addresses.join(","));
        let folder = TempDir::with_prefix("flakeid-requests")?;
        let runtimes = Runtimes::rust_only(PERIOD);
        let members =
            MemberProcesses::start(&addresses, &layout, self.members, folder.path(), &runtimes)?;
        sleep(START);
        let mut counts = vec![store.requests()];
        for _ in 0..self.minutes {
            sleep(MINUTE);
            counts.push(store.requests());
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
