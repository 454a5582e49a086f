//! A private Galera cluster of three members.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::account::run;
use crate::{MariadbServer, Server, free_port};

/// Where Debian and Ubuntu have the library that replicates.
const PROVIDER: &str = "/usr/lib/galera/libgalera_smm.so";

/// How long the members may take to agree on something, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Three servers of `MariaDB`, each of which could be written to.
#[derive(Debug)]
pub struct GaleraCluster {
    members: Vec<MariadbServer>,
}

impl GaleraCluster {
    /// A running one, whose members give up one that was killed after 2 s.
    ///
    /// # Panics
    /// If `MariaDB` or Galera (Debian's `mariadb-server` and `galera-4`) is not installed, or does not
    /// start.
    #[must_use]
    pub fn new() -> Self {
        // Instead of 5 s.
        Self::with(&["evs.suspect_timeout=PT2S", "evs.keepalive_period=PT0.5S"])
    }

    /// A running one with the options that Galera has by itself.
    ///
    /// # Panics
    /// As [`new`](Self::new).
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
        // Once in a cluster of its own, so that its copies know that they have what that cluster has, and
        // no data have to be transferred when they join.
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

    /// One member, from 0 to 2.
    #[must_use]
    pub fn member(&self, at: usize) -> &MariadbServer {
        &self.members[at]
    }

    /// A URL of all members, in the order of `hosts`.
    #[must_use]
    pub fn url(&self, hosts: &[usize]) -> String {
        let hosts: Vec<String> =
            hosts.iter().map(|at| format!("127.0.0.1:{}", self.members[*at].port())).collect();
        format!("mysql://flakeid:{}@{}/ids", MariadbServer::PASSWORD, hosts.join(","))
    }

    /// The member with the index 0, as those that run see it.
    ///
    /// # Panics
    /// If there is none within a minute.
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

    /// Makes a cluster of a member alone, which has lost the others.
    ///
    /// # Panics
    /// If it does not become one within a minute.
    pub fn make_primary(&self, at: usize) {
        let deadline = Instant::now() + TIMEOUT;
        let member = &self.members[at];
        while status(member, "wsrep_cluster_status").as_deref() != Some("non-Primary") {
            assert!(Instant::now() < deadline, "the member did not notice that it is alone");
            sleep(Duration::from_millis(50));
        }
        // Refused while it still looks for the others.
        while let Err(text) = member.sql("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=1'") {
            assert!(Instant::now() < deadline, "no cluster of one: {text}");
            sleep(Duration::from_millis(50));
        }
        self.wait_for_size(1);
    }

    /// Waits until every member that runs knows that there are so many.
    ///
    /// # Panics
    /// If that takes longer than a minute.
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
            assert!(Instant::now() < deadline, "the members count {sizes:?} instead of {size}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Starts all members: the first makes the cluster, and the others join it.
    ///
    /// # Panics
    /// If they do not.
    pub fn start(&self) {
        // Who was killed does not know that it may make the cluster, but here the first always may.
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
    /// If that does not work.
    #[must_use]
    pub fn back_up(&self) -> Vec<TempDir> {
        self.stop();
        let copy = |member: &MariadbServer| {
            let folder = tempfile::tempdir().expect("a temporary directory");
            run(Command::new("cp").arg("-a").arg(member.data()).arg(folder.path()));
            folder
        };
        let copies = self.members.iter().map(copy).collect();
        self.start();
        copies
    }

    /// Puts copies in the place of the data of all members.
    ///
    /// # Panics
    /// If that does not work.
    pub fn restore(&self, copies: Vec<TempDir>) {
        self.stop();
        for (member, copy) in self.members.iter().zip(copies) {
            fs::remove_dir_all(member.data()).expect("the data are ours");
            run(Command::new("cp").arg("-a").arg(copy.path().join("data")).arg(home(member)));
        }
        self.start();
    }

    /// Stops all members, the first one last.
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
    member.data().parent().expect("a directory of its own").to_owned()
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
        // Triggers need it.
        "--log-bin-trust-function-creators=1".into(),
        "--innodb-autoinc-lock-mode=2".into(),
    ]
}
