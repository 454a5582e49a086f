//! Private Redis servers with sentinels.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::redis::command_at;
use crate::{RedisServer, free_port};

/// The time in which sentinels must act on their own, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A primary, its replica, and three sentinels that perform failovers between them.
#[derive(Debug)]
pub struct RedisSentinels {
    /// The first server is the primary at first, and the second one its replica.
    pub servers: [RedisServer; 2],
    sentinels: Vec<RedisSentinel>,
}

/// A sentinel.
#[derive(Debug)]
pub struct RedisSentinel {
    home: TempDir,
    port: u16,
    daemon: Daemon,
}

impl RedisSentinels {
    /// The name of the service.
    pub const SERVICE: &'static str = "ids";

    /// The password of the sentinels.
    pub const PASSWORD: &'static str = "watchword-4d2e";

    /// Starts all servers, and waits until the sentinels know each other and the replica.
    ///
    /// # Panics
    /// If Redis is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        Self::detecting_after(2_000)
    }

    /// Starts all servers. The sentinels consider a primary down if it has not responded for this
    /// time.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn detecting_after(milliseconds: u32) -> Self {
        let servers = [RedisServer::new(), RedisServer::new()];
        servers[1].follow(servers[0].port());
        let port = servers[0].port();
        let sentinel = |_| RedisSentinel::detecting_after(milliseconds, port, &[]);
        let sentinels = (0..3).map(sentinel).collect();
        let all = Self { servers, sentinels };
        all.wait_for("each other", |state| state("num-other-sentinels").as_deref() == Some("2"));
        all.wait_for_replica();
        all
    }

    /// Returns the URL of the service, with options after the sentinels' password.
    #[must_use]
    pub fn url(&self, options: &str) -> String {
        let hosts: Vec<String> =
            self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
        format!(
            "redis+sentinel://:{}@{}/{}/0?sentinel-password={}{options}",
            RedisServer::PASSWORD,
            hosts.join(","),
            Self::SERVICE,
            Self::PASSWORD
        )
    }

    /// The port of the sentinel with this index.
    #[must_use]
    pub fn sentinel_port(&self, at: usize) -> u16 {
        self.sentinels[at].port
    }

    /// Pauses a sentinel with SIGSTOP, which it cannot detect, or resumes it.
    pub fn pause_sentinel(&self, at: usize, paused: bool) {
        let signal = if paused { libc::SIGSTOP } else { libc::SIGCONT };
        self.sentinels[at].daemon.signal(signal);
    }

    /// Waits until every sentinel considers this server the primary.
    ///
    /// # Panics
    /// If this takes longer than two minutes.
    pub fn wait_for_primary(&self, at: usize) {
        let port = self.servers[at].port().to_string();
        self.wait_for("the new primary", |state| state("port").as_ref() == Some(&port));
    }

    /// Waits until every sentinel reports a replica that follows the primary.
    ///
    /// # Panics
    /// If this takes longer than two minutes.
    pub fn wait_for_replica(&self) {
        let deadline = Instant::now() + TIMEOUT;
        for sentinel in &self.sentinels {
            loop {
                let state = sentinel.command(&["SENTINEL", "REPLICAS", Self::SERVICE]);
                let state = state.unwrap_or_default();
                if state.contains("master-link-status\nok") && !state.contains("s_down") {
                    break;
                }
                assert!(Instant::now() < deadline, "a sentinel reports no replica: {state}");
                sleep(Duration::from_millis(100));
            }
        }
    }

    /// Waits until the state of the service satisfies a condition in every sentinel.
    fn wait_for(&self, what: &str, is_met: impl Fn(&dyn Fn(&str) -> Option<String>) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        for sentinel in &self.sentinels {
            loop {
                let state = sentinel.command(&["SENTINEL", "MASTER", Self::SERVICE]);
                let state = state.unwrap_or_default();
                let field = |name: &str| {
                    let mut lines = state.lines().skip_while(|line| *line != name).skip(1);
                    lines.next().map(str::to_owned)
                };
                if is_met(&field) {
                    break;
                }
                assert!(Instant::now() < deadline, "a sentinel does not report {what}: {state}");
                sleep(Duration::from_millis(100));
            }
        }
    }
}

impl Default for RedisSentinels {
    fn default() -> Self {
        Self::new()
    }
}

impl RedisSentinel {
    /// Starts a lone sentinel for the server at a port of this host, with additional settings.
    ///
    /// # Panics
    /// If Redis is not installed or does not start.
    #[must_use]
    pub fn watching(server: u16, settings: &[(&str, &str)]) -> Self {
        Self::detecting_after(2_000, server, settings)
    }

    fn detecting_after(milliseconds: u32, server: u16, settings: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let (port, service) = (free_port(), RedisSentinels::SERVICE);
        let (password, own) = (RedisServer::PASSWORD, RedisSentinels::PASSWORD);
        // Sentinels write their own state to this file.
        let file = home.path().join("sentinel.conf");
        let mut further = String::new();
        for (name, value) in settings {
            let _ = writeln!(further, "{name} {value}");
        }
        let settings = format!(
            "{further}port {port}\nbind 127.0.0.1\ndir {}\n\
             requirepass {own}\nsentinel sentinel-pass {own}\n\
             sentinel monitor {service} 127.0.0.1 {server} 2\n\
             sentinel auth-pass {service} {password}\n\
             sentinel down-after-milliseconds {service} {milliseconds}\n\
             sentinel failover-timeout {service} 5000\n",
            home.path().display()
        );
        fs::write(&file, settings).expect("a file of settings");
        let daemon = Daemon::new("Redis Sentinel", home.path().join("log"));
        let sentinel = Self { home, port, daemon };
        let mut command = Command::new("redis-server");
        command.arg(&file).arg("--sentinel").current_dir(sentinel.home.path());
        let is_ready = || sentinel.command(&["PING"]).as_deref() == Ok("PONG");
        sentinel.daemon.start(&mut command, is_ready);
        sentinel
    }

    fn command(&self, words: &[&str]) -> Result<String, String> {
        command_at(self.port, RedisSentinels::PASSWORD, words)
    }
}
