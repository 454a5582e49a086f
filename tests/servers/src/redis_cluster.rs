//! A private Redis Cluster.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{RedisServer, free_port};

/// The time in which the nodes must agree, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The hash slots of the three primaries.
const SLOTS: [(u16, u16); 3] = [(0, 5460), (5461, 10_922), (10_923, 16_383)];

/// Three primaries, and a replica of the first.
#[derive(Debug)]
pub struct RedisCluster {
    /// The three primaries, followed by the replica.
    pub nodes: Vec<RedisServer>,
}

impl RedisCluster {
    /// Starts a cluster.
    ///
    /// # Panics
    /// If Redis 7 is not installed, or the nodes do not form a cluster within two minutes.
    #[must_use]
    pub fn new() -> Self {
        let buses: Vec<String> = (0..4).map(|_| free_port().to_string()).collect();
        let node = |bus: &String| {
            let enabled = ["--cluster-enabled", "yes", "--cluster-node-timeout", "3000"];
            // The default is the other port plus 10,000, which may exceed the range of ports.
            RedisServer::with(&[&enabled[..], &["--cluster-port", bus]].concat())
        };
        let cluster = Self { nodes: buses.iter().map(node).collect() };
        for (at, (first, last)) in SLOTS.iter().enumerate() {
            let (first, last) = (first.to_string(), last.to_string());
            cluster.command(at, &["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
        }
        for (at, bus) in buses.iter().enumerate() {
            cluster.command(at, &["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()]);
            let port = cluster.nodes[at].port().to_string();
            if at > 0 {
                cluster.command(0, &["CLUSTER", "MEET", "127.0.0.1", &port, bus]);
            }
        }
        let knows_all = |at| cluster.command(at, &["CLUSTER", "INFO"]).contains("known_nodes:4");
        let is_ok = |at| cluster.command(at, &["CLUSTER", "INFO"]).contains("cluster_state:ok");
        eventually("the nodes know each other", || (0..4).all(knows_all));
        let first = cluster.id(0);
        cluster.command(3, &["CLUSTER", "REPLICATE", &first]);
        eventually("the replica follows", || {
            cluster.command(3, &["INFO", "replication"]).contains("master_link_status:up")
        });
        eventually("the cluster is complete", || (0..4).all(is_ok));
        cluster
    }

    /// Returns the URL of some nodes.
    #[must_use]
    pub fn url(&self, nodes: &[usize]) -> String {
        let hosts: Vec<String> =
            nodes.iter().map(|at| format!("127.0.0.1:{}", self.nodes[*at].port())).collect();
        format!("redis://:{}@{}/0", RedisServer::PASSWORD, hosts.join(","))
    }

    /// Returns the primary that has the keys of a namespace at first, and their hash slot.
    ///
    /// # Panics
    /// If a node does not respond.
    #[must_use]
    pub fn place_of(&self, namespace: &str) -> (usize, u16) {
        let key = format!("flakeid:{{{namespace}}}");
        let slot = self.command(1, &["CLUSTER", "KEYSLOT", &key]);
        let slot: u16 = slot.parse().expect("a hash slot");
        let has = |(first, last): &(u16, u16)| (*first..=*last).contains(&slot);
        (SLOTS.iter().position(has).expect("every slot has a primary"), slot)
    }

    /// Moves a hash slot with its keys from one primary to another, as Redis's own tools do.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        let (source, target, slot) = (self.id(from), self.id(to), slot.to_string());
        self.command(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]);
        self.command(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]);
        let keys = self.command(from, &["CLUSTER", "GETKEYSINSLOT", &slot, "1000"]);
        let port = self.nodes[to].port().to_string();
        let mut migrate = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000"];
        migrate.extend(["AUTH", RedisServer::PASSWORD, "KEYS"]);
        migrate.extend(keys.lines());
        self.command(from, &migrate);
        for at in [to, from] {
            self.command(at, &["CLUSTER", "SETSLOT", &slot, "NODE", &target]);
        }
    }

    /// Waits until a node is a primary and reports a complete cluster.
    ///
    /// # Panics
    /// If this takes longer than two minutes.
    pub fn wait_for_primary(&self, at: usize) {
        eventually("the replica is promoted", || {
            self.command(at, &["INFO", "replication"]).contains("role:master")
                && self.command(at, &["CLUSTER", "INFO"]).contains("cluster_state:ok")
        });
    }

    fn id(&self, at: usize) -> String {
        self.command(at, &["CLUSTER", "MYID"])
    }

    fn command(&self, at: usize, words: &[&str]) -> String {
        self.nodes[at].command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }
}

impl Default for RedisCluster {
    fn default() -> Self {
        Self::new()
    }
}

fn eventually(what: &str, is_met: impl Fn() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_met() {
        assert!(Instant::now() < deadline, "not within two minutes: {what}");
        sleep(Duration::from_millis(50));
    }
}
