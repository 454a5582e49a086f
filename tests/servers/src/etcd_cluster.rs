//! A private etcd with three members.

use std::path::Path;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use crate::etcd::{EtcdServer, Membership};
use crate::peer_network::PeerNetwork;
use crate::{Server, free_port};

/// The time in which the members must agree, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A private etcd with three members. Each member can be killed, stopped, replaced, and
/// disconnected from the others.
#[derive(Debug)]
pub struct EtcdCluster {
    members: Vec<EtcdServer>,
    peer_ports: Vec<u16>,
    network: PeerNetwork,
}

impl EtcdCluster {
    /// Starts a cluster.
    ///
    /// # Panics
    /// If etcd (Debian's `etcd-server` and `etcd-client`) is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        let network = PeerNetwork::default();
        let peer_ports: Vec<u16> = (0..3).map(|_| free_port()).collect();
        let url = |port: &u16| format!("http://127.0.0.1:{}", network.forward_to(*port));
        let urls: Vec<String> = peer_ports.iter().map(url).collect();
        let named: Vec<String> =
            urls.iter().enumerate().map(|(at, url)| format!("m{at}={url}")).collect();
        let member = |(at, port): (usize, &u16)| {
            let membership = Membership {
                name: format!("m{at}"),
                peer_url: urls[at].clone(),
                initial_cluster: named.join(","),
                joins: false,
                election_ms: 1_000,
            };
            EtcdServer::member(*port, membership)
        };
        let members = peer_ports.iter().enumerate().map(member).collect();
        let cluster = Self { members, peer_ports, network };
        cluster.start();
        cluster
    }

    /// Returns a URL with the addresses of all members.
    #[must_use]
    pub fn url(&self) -> String {
        let hosts: Vec<String> =
            self.members.iter().map(|member| format!("127.0.0.1:{}", member.port())).collect();
        format!("etcd://{}/", hosts.join(","))
    }

    /// The member with this index, from 0 to 2.
    #[must_use]
    pub fn member(&self, at: usize) -> &EtcdServer {
        &self.members[at]
    }

    /// Returns the member that a majority considers the leader.
    ///
    /// # Panics
    /// If there is no leader for a minute.
    #[must_use]
    pub fn leader(&self) -> usize {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let states: Vec<_> = self.members.iter().filter_map(State::of).collect();
            let is_leader = |id: u64| states.iter().filter(|state| state.leader == id).count() > 1;
            let at =
                |id| self.members.iter().position(|m| State::of(m).is_some_and(|s| s.id == id));
            if let Some(leader) = states.iter().map(|state| state.leader).find(|id| is_leader(*id))
                && leader != 0
                && let Some(at) = at(leader)
            {
                return at;
            }
            assert!(Instant::now() < deadline, "no leader within a minute");
            sleep(Duration::from_millis(50));
        }
    }

    /// Waits until a majority has a leader other than this member, which may be down.
    ///
    /// # Panics
    /// If there is no such leader within a minute.
    pub fn wait_for_leader_other_than(&self, at: usize) {
        let deadline = Instant::now() + TIMEOUT;
        let others = || self.members.iter().enumerate().filter(|(other, _)| *other != at);
        loop {
            let states: Vec<_> = others().filter_map(|(_, member)| State::of(member)).collect();
            if let [one, two] = states.as_slice()
                && one.leader == two.leader
                && [one.id, two.id].contains(&one.leader)
            {
                return;
            }
            assert!(Instant::now() < deadline, "no other leader within a minute");
            sleep(Duration::from_millis(50));
        }
    }

    /// Disconnects a member from the others, but not from clients. Returns the argument for
    /// [`join`](Self::join).
    ///
    /// # Panics
    /// If the member does not respond.
    #[must_use]
    pub fn cut_off(&self, at: usize) -> u64 {
        let id = State::of(&self.members[at]).expect("the member responds").id;
        self.network.cut_off(id, self.peer_ports[at]);
        id
    }

    /// Reconnects a disconnected member with the others.
    pub fn join(&self, at: usize, id: u64) {
        self.network.join(id, self.peer_ports[at]);
    }

    /// Removes a member, which may be down, and adds a new one in its place.
    ///
    /// # Panics
    /// If the other members do not agree.
    pub fn replace(&mut self, at: usize) {
        let name = self.members[at].membership().name.clone();
        self.members[at].kill();
        let through = &self.members[(at + 1) % 3];
        let listed = through.ctl(&["member", "list"]).expect("a list of members");
        let line = listed.lines().find(|line| line.contains(&format!(" {name},")));
        let id = line.and_then(|line| line.split(',').next()).expect("the member is listed");
        eventually(|| through.ctl(&["member", "remove", id]));
        self.add(at, &[(at + 1) % 3, (at + 2) % 3]);
    }

    /// Kills all members, creates a new cluster from one of them (`--force-new-cluster`), and adds
    /// new members in place of the others.
    ///
    /// # Panics
    /// If etcd refuses a step.
    pub fn force_new(&mut self, at: usize) {
        for member in &self.members {
            member.kill();
        }
        self.members[at].start_once_with("--force-new-cluster");
        self.members[at].start();
        let (next, last) = ((at + 1) % 3, (at + 2) % 3);
        self.add(next, &[at]);
        self.add(last, &[at, next]);
    }

    /// Adds a new member to the cluster of `others`.
    fn add(&mut self, at: usize, others: &[usize]) {
        let peer_port = free_port();
        let peer_url = format!("http://127.0.0.1:{}", self.network.forward_to(peer_port));
        let old = self.members[at].membership().clone();
        // The name is new, so that the cluster cannot confuse the new member with the old one.
        let name = format!("{}x", old.name);
        let peer_urls = format!("--peer-urls={peer_url}");
        eventually(|| self.members[others[0]].ctl(&["member", "add", &name, &peer_urls]));
        let mut named = vec![format!("{name}={peer_url}")];
        for other in others {
            let Membership { name, peer_url, .. } = self.members[*other].membership();
            named.push(format!("{name}={peer_url}"));
        }
        let initial_cluster = named.join(",");
        for other in others {
            let old = self.members[*other].membership().clone();
            let initial_cluster = initial_cluster.clone();
            self.members[*other].set_membership(Membership { initial_cluster, ..old });
        }
        let membership = Membership { name, peer_url, initial_cluster, joins: true, ..old };
        self.members[at] = EtcdServer::member(peer_port, membership);
        self.peer_ports[at] = peer_port;
        self.members[at].start();
    }

    /// Saves a snapshot, like a backup by an operator.
    ///
    /// # Panics
    /// If `etcdctl` fails.
    pub fn save(&self, file: &Path) {
        self.members[0].save(file);
    }

    /// Creates a new cluster of the same members from a snapshot, like a restore by an operator.
    ///
    /// # Panics
    /// If the restore fails.
    pub fn restore(&self, file: &Path) {
        self.stop();
        for member in &self.members {
            member.load(file);
        }
        self.start();
    }

    /// Starts all members, and waits until they respond.
    ///
    /// # Panics
    /// If they do not respond within a minute.
    pub fn start(&self) {
        // No member responds before a majority runs.
        scope(|scope| {
            for member in &self.members {
                scope.spawn(|| member.start());
            }
        });
        let _ = self.leader();
    }

    /// Stops all members.
    pub fn stop(&self) {
        scope(|scope| {
            for member in &self.members {
                scope.spawn(|| member.stop());
            }
        });
    }
}

impl Default for EtcdCluster {
    fn default() -> Self {
        Self::new()
    }
}

/// The state that a member reports about itself.
struct State {
    id: u64,
    leader: u64,
}

impl State {
    fn of(member: &EtcdServer) -> Option<Self> {
        let text = member.ctl(&["endpoint", "status", "-w", "fields"]).ok()?;
        let number = |name: &str| {
            let name = format!("\"{name}\" : ");
            text.lines().find_map(|line| line.strip_prefix(&name)?.trim().parse().ok())
        };
        Some(Self { id: number("MemberID")?, leader: number("Leader")? })
    }
}

/// Repeats a change of members, because etcd refuses it until the previous one is complete.
fn eventually(change: impl Fn() -> Result<String, String>) {
    let deadline = Instant::now() + TIMEOUT;
    while let Err(text) = change() {
        assert!(Instant::now() < deadline, "{text}");
        sleep(Duration::from_millis(100));
    }
}
