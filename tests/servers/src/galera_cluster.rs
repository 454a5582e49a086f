//! A private Galera cluster with three members.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::template;
use crate::{MariadbServer, Server, free_port};

/// The path of the replication library on Debian and Ubuntu.
const PROVIDER: &str = "/usr/lib/galera/libgalera_smm.so";

/// The time in which the members must agree, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Three servers of `MariaDB`, which all accept writes.
#[derive(Debug)]
pub struct GaleraCluster {
    members: Vec<MariadbServer>,
}

impl GaleraCluster {
    /// Starts a cluster whose members exclude a killed member after 2 s.
    ///
    /// # Panics
    /// If `MariaDB` or Galera (Debian's `mariadb-server` and `galera-4`) is not installed, or does not
    /// start.
    #[must_use]
    pub fn new() -> Self {
        // The default is 5 s.
        Self::with(&["evs.suspect_timeout=PT2S", "evs.keepalive_period=PT0.5S"])
    }

    /// Starts a cluster with Galera's default options.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn with_default_options() -> Self {
        Self::with(&[])
    }

    fn with(options: &[&str]) -> Self {
        assert!(
            Path::new(PROVIDER).exists(),
            "no {PROVIDER}: apt-get install galera-4 mariadb-server"
        );
        let ports: Vec<u16> = (0..3).map(|_| free_port()).collect();
        let mut first = MariadbServer::with(&[]);
        first.stop();
        // The first member forms a cluster alone once. Its copies then have the state of that
        // cluster, so that they can join without a transfer of data.
        first.set(settings(0, &ports, options));
        first.start_with(&["--wsrep-new-cluster"]);
        first.stop();
        let mut members = vec![first.stopped_copy(), first.stopped_copy()];
        members.insert(0, first);
        for (at, member) in members.iter_mut().enumerate() {
            member.set(settings(at, &ports, options));
        }
        let cluster = Self { members };
        cluster.start();
        cluster
    }

    /// The member with this index, from 0 to 2.
    #[must_use]
    pub fn member(&self, at: usize) -> &MariadbServer {
        &self.members[at]
    }

    /// Returns a URL of these members, in the order of `hosts`.
    #[must_use]
    pub fn url(&self, hosts: &[usize]) -> String {
        let hosts: Vec<String> =
            hosts.iter().map(|at| format!("127.0.0.1:{}", self.members[*at].port())).collect();
        format!("mysql://flakeid:{}@{}/ids", MariadbServer::PASSWORD, hosts.join(","))
    }

    /// Returns the member that has index 0 according to the running members.
    ///
    /// # Panics
    /// If no member has it within a minute.
    #[must_use]
    pub fn first(&self) -> usize {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let is_first = |member: &MariadbServer| {
                let index = status(member, "wsrep_local_index");
                index.as_deref() == Some("0")
                    && status(member, "wsrep_cluster_status").as_deref() == Some("Primary")
            };
            if let Some(first) = self.members.iter().position(is_first) {
                return first;
            }
            assert!(Instant::now() < deadline, "no member has the index 0");
            sleep(Duration::from_millis(50));
        }
    }

    /// Turns a member that has lost the others into a cluster of its own.
    ///
    /// # Panics
    /// If it does not become one within a minute.
    pub fn make_primary(&self, at: usize) {
        let deadline = Instant::now() + TIMEOUT;
        let member = &self.members[at];
        while status(member, "wsrep_cluster_status").as_deref() != Some("non-Primary") {
            assert!(Instant::now() < deadline, "the member did not detect the loss of the others");
            sleep(Duration::from_millis(50));
        }
        // Galera refuses this while the member still searches for the others.
        while let Err(text) = member.sql("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=1'") {
            assert!(Instant::now() < deadline, "the member did not form a cluster: {text}");
            sleep(Duration::from_millis(50));
        }
        self.wait_for_size(1);
    }

    /// Waits until the given number of members run, and all of them report that number.
    ///
    /// # Panics
    /// If this takes longer than a minute.
    pub fn wait_for_size(&self, size: usize) {
        let deadline = Instant::now() + TIMEOUT;
        let size = size.to_string();
        loop {
            let sizes: Vec<String> = self
                .members
                .iter()
                .filter_map(|member| {
                    let is_ready = status(member, "wsrep_ready").as_deref() == Some("ON");
                    is_ready.then(|| status(member, "wsrep_cluster_size"))?
                })
                .collect();
            if sizes.len().to_string() == size && sizes.iter().all(|one| *one == size) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "the members report the sizes {sizes:?} instead of {size}"
            );
            sleep(Duration::from_millis(50));
        }
    }

    /// Starts all members: the first one forms the cluster, and the others join it.
    ///
    /// # Panics
    /// If the members do not form a cluster within a minute.
    pub fn start(&self) {
        // After a kill, a member does not know whether it may form the cluster; here the first one
        // always may.
        let state = self.members[0].data().join("grastate.dat");
        if let Ok(text) = fs::read_to_string(&state) {
            let text = text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1");
            fs::write(&state, text).expect("our file");
        }
        self.members[0].start_with(&["--wsrep-new-cluster"]);
        for member in &self.members[1..] {
            member.start();
        }
        self.wait_for_size(3);
    }

    /// Stops all members, copies their data, and starts them again.
    ///
    /// # Panics
    /// If a member does not stop or start.
    #[must_use]
    pub fn back_up(&self) -> Vec<TempDir> {
        self.stop();
        let copy = |member: &MariadbServer| {
            let folder = tempfile::tempdir_in(home(member)).expect("a temporary directory");
            template::copy(&member.data(), &folder.path().join("data"));
            folder
        };
        let copies = self.members.iter().map(copy).collect();
        self.start();
        copies
    }

    /// Replaces the data of all members with copies.
    ///
    /// # Panics
    /// If a member does not stop or start.
    pub fn restore(&self, copies: Vec<TempDir>) {
        self.stop();
        for (member, copy) in self.members.iter().zip(copies) {
            fs::remove_dir_all(member.data()).expect("the process owns the data");
            fs::rename(copy.path().join("data"), member.data()).expect("a folder of this process");
        }
        self.start();
    }

    /// Stops all members, and the first one last.
    pub fn stop(&self) {
        for member in self.members.iter().rev() {
            member.stop();
        }
    }
}

impl Default for GaleraCluster {
    fn default() -> Self {
        Self::new()
    }
}

fn home(member: &MariadbServer) -> PathBuf {
    member.data().parent().expect("the member's directory").to_owned()
}

fn status(member: &MariadbServer, name: &str) -> Option<String> {
    let shown = member.sql(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).ok()?;
    shown.split_once('\t').map(|(_, value)| value.to_owned())
}

fn settings(at: usize, ports: &[u16], more: &[&str]) -> Vec<String> {
    let addresses: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let own = &addresses[at];
    let mut options = vec![
        format!("gmcast.listen_addr=tcp://{own}"),
        format!("ist.recv_addr=127.0.0.1:{}", free_port()),
        "gcache.size=32M".into(),
    ];
    options.extend(more.iter().map(ToString::to_string));
    vec![
        "--wsrep-on=ON".into(),
        format!("--wsrep-provider={PROVIDER}"),
        "--wsrep-cluster-name=flakeid".into(),
        format!("--wsrep-cluster-address=gcomm://{}", addresses.join(",")),
        format!("--wsrep-node-address={own}"),
        format!("--wsrep-node-name=m{at}"),
        format!("--wsrep-provider-options={}", options.join(";")),
        "--wsrep-sst-method=rsync".into(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{}", free_port()),
        "--binlog-format=ROW".into(),
        // Triggers require this setting when there is a binary log.
        "--log-bin-trust-function-creators=1".into(),
        "--innodb-autoinc-lock-mode=2".into(),
    ]
}
