//! Private Redis servers that sentinels watch.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::redis::command_at;
use crate::{RedisServer, free_port};

/// How long sentinels may take for what they do by themselves, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A primary, its replica, and three sentinels that fail over from one to the other.
#[derive(Debug)]
pub struct RedisSentinels {
    /// At first a primary and its replica.
    pub servers: [RedisServer; 2],
    sentinels: Vec<RedisSentinel>,
}

/// One sentinel.
#[derive(Debug)]
pub struct RedisSentinel {
    home: TempDir,
    port: u16,
    daemon: Daemon,
}

impl RedisSentinels {
    /// The name of the service.
    pub const SERVICE: &'static str = "ids";

    /// The sentinels' own password.
    pub const PASSWORD: &'static str = "watchword-4d2e";

    /// All running; the sentinels know each other and the replica.
    ///
    /// # Panics
    /// If Redis is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        Self::detecting_after(2_000)
    }

    /// All running; the sentinels give up a primary that does not answer after so many milliseconds.
    ///
    /// # Panics
    /// As [`new`](Self::new).
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

    /// The URL of the service, with options after the sentinels' password.
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

    /// The port of a sentinel.
    #[must_use]
    pub fn sentinel_port(&self, at: usize) -> u16 {
        self.sentinels[at].port
    }

    /// Stops a sentinel without its noticing, or lets it go on.
    pub fn pause_sentinel(&self, at: usize, paused: bool) {
        let signal = if paused { libc::SIGSTOP } else { libc::SIGCONT };
        self.sentinels[at].daemon.signal(signal);
    }

    /// Waits until every sentinel takes this server for the primary.
    ///
    /// # Panics
    /// If they do not within two minutes.
    pub fn wait_for_primary(&self, at: usize) {
        let port = self.servers[at].port().to_string();
        self.wait_for("the new primary", |state| state("port").as_ref() == Some(&port));
    }

    /// Waits until every sentinel sees a replica that follows the primary.
    ///
    /// # Panics
    /// If none does within two minutes.
    pub fn wait_for_replica(&self) {
        let deadline = Instant::now() + TIMEOUT;
        for sentinel in &self.sentinels {
            loop {
                let state = sentinel.command(&["SENTINEL", "REPLICAS", Self::SERVICE]);
                let state = state.unwrap_or_default();
                if state.contains("master-link-status\nok") && !state.contains("s_down") {
                    break;
                }
                assert!(Instant::now() < deadline, "no replica: {state}");
                sleep(Duration::from_millis(100));
            }
        }
    }

    /// Waits until every sentinel's state of the service is as wanted.
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
                assert!(Instant::now() < deadline, "sentinels do not know {what}: {state}");
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
    /// A running one that alone watches the server at a port of this host, with further settings.
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
        // Sentinels write to it what they learn.
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
