use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::home::home;
use crate::{Server, free_port};

/// A private etcd with one member, or one member of an [`EtcdCluster`](crate::EtcdCluster).
#[derive(Debug)]
pub struct EtcdServer {
    home: TempDir,
    client_port: u16,
    peer_port: u16,
    membership: Membership,
    tls_port: Option<u16>,
    settings: Vec<String>,
    daemon: Daemon,
}

/// The role of a member in its cluster.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    pub(crate) name: String,
    /// The URL at which the peers reach the member.
    pub(crate) peer_url: String,
    /// All members, in the format of `--initial-cluster`.
    pub(crate) initial_cluster: String,
    /// Whether the member joins an existing cluster.
    pub(crate) joins: bool,
    /// The milliseconds without a leader after which the member starts an election.
    pub(crate) election_ms: u32,
}

impl EtcdServer {
    /// Starts a server.
    ///
    /// # Panics
    /// If etcd (Debian's `etcd-server` and `etcd-client`) is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// Starts a server with additional options for `etcd`.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn with(settings: &[&str]) -> Self {
        let server = Self::installed(settings, None);
        server.start();
        server
    }

    /// Starts a server that uses a certificate and its key, both in PEM format, on an additional
    /// port.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn with_certificate(certificate: &str, key: &str) -> Self {
        let server = Self::installed(&[], Some(free_port()));
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            fs::write(server.home.path().join(name), text).unwrap();
        }
        server.start();
        server
    }

    fn installed(settings: &[&str], tls_port: Option<u16>) -> Self {
        let peer_port = free_port();
        let peer_url = format!("http://127.0.0.1:{peer_port}");
        let membership = Membership {
            name: "only".into(),
            initial_cluster: format!("only={peer_url}"),
            peer_url,
            joins: false,
            // A lone member waits for no votes, so a short timeout is enough.
            election_ms: 100,
        };
        let settings = settings.iter().map(ToString::to_string).collect();
        Self { tls_port, settings, ..Self::member(peer_port, membership) }
    }

    /// Returns a member that has not been started.
    pub(crate) fn member(peer_port: u16, membership: Membership) -> Self {
        let home = home();
        Self {
            daemon: Daemon::new("etcd", home.path().join("log")),
            home,
            client_port: free_port(),
            peer_port,
            membership,
            tls_port: None,
            settings: Vec::new(),
        }
    }

    /// Changes the member's role in its cluster from the next start on.
    pub(crate) fn set_membership(&mut self, membership: Membership) {
        self.membership = membership;
    }

    /// Starts the server once with an additional option, and stops it again.
    pub(crate) fn start_once_with(&mut self, setting: &str) {
        self.settings.push(setting.into());
        self.start();
        self.stop();
        self.settings.pop();
    }

    pub(crate) fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The port without TLS.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.client_port
    }

    /// The port with TLS.
    ///
    /// # Panics
    /// If the server has no certificate.
    #[must_use]
    pub fn tls_port(&self) -> u16 {
        self.tls_port.expect("the server has a certificate")
    }

    /// Runs `etcdctl`.
    ///
    /// # Errors
    /// The error message of `etcdctl`.
    ///
    /// # Panics
    /// If `etcdctl` is not installed.
    pub fn ctl(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").args(["--command-timeout", "5s", "--endpoints"]);
        command.arg(format!("http://127.0.0.1:{}", self.client_port)).args(words);
        let output = command.output().expect("etcdctl (Debian's package etcd-client)");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Saves a snapshot, like a backup by an operator.
    ///
    /// # Panics
    /// If `etcdctl` fails.
    pub fn save(&self, file: &Path) {
        self.ctl(&["snapshot", "save", &file.display().to_string()]).expect("a snapshot");
    }

    /// Replaces the data with a snapshot in the same member, like a restore by an operator.
    ///
    /// # Panics
    /// If the restore fails.
    pub fn restore(&self, file: &Path) {
        self.stop();
        self.load(file);
        self.start();
    }

    /// Replaces the data of a stopped member with a snapshot.
    pub(crate) fn load(&self, file: &Path) {
        fs::remove_dir_all(self.data()).expect("the data directory");
        let data = self.data().display().to_string();
        let Membership { name, peer_url, initial_cluster, .. } = &self.membership;
        self.ctl(&[
            "snapshot",
            "restore",
            &file.display().to_string(),
            "--data-dir",
            &data,
            "--name",
            name,
            "--initial-cluster",
            initial_cluster,
            "--initial-advertise-peer-urls",
            peer_url,
        ])
        .expect("a restored snapshot");
    }
}

impl Default for EtcdServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for EtcdServer {
    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn url(&self) -> String {
        format!("etcd://127.0.0.1:{}/", self.client_port)
    }

    fn start(&self) {
        let home = self.home.path();
        let client = format!("http://127.0.0.1:{}", self.client_port);
        let listen = match self.tls_port {
            Some(port) => format!("{client},https://127.0.0.1:{port}"),
            None => client.clone(),
        };
        let Membership { name, peer_url, initial_cluster, joins, election_ms } = &self.membership;
        let peer = format!("http://127.0.0.1:{}", self.peer_port);
        let mut command = Command::new("etcd");
        command.args(["--name", name, "--data-dir"]).arg(self.data());
        command.args(["--listen-client-urls", &listen, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", peer_url]);
        command.args(["--initial-cluster", initial_cluster]);
        command.args(["--initial-cluster-state", if *joins { "existing" } else { "new" }]);
        command.args(["--heartbeat-interval", &(election_ms / 10).max(20).to_string()]);
        command.args(["--election-timeout", &election_ms.to_string()]);
        if self.tls_port.is_some() {
            command.arg("--cert-file").arg(home.join("server.crt"));
            command.arg("--key-file").arg(home.join("server.key"));
        }
        command.args(&self.settings);
        self.daemon.start(&mut command, || self.ctl(&["endpoint", "status"]).is_ok());
    }
}
