use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::daemon::Daemon;
use crate::home::home;
use crate::{Server, free_port};

/// A private Redis with an append-only file and a password.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    settings: Vec<String>,
    daemon: Daemon,
}

impl RedisServer {
    /// The password of the server.
    pub const PASSWORD: &'static str = "sesame-9c1f";

    /// Starts a server.
    ///
    /// # Panics
    /// If Redis is not installed or does not start.
    #[must_use]
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// Starts a server with additional options for `redis-server`.
    ///
    /// # Panics
    /// In the same cases as [`new`](Self::new).
    #[must_use]
    pub fn with(settings: &[&str]) -> Self {
        let server = Self {
            daemon: Daemon::in_home("Redis", home()),
            port: free_port(),
            settings: settings.iter().map(ToString::to_string).collect(),
        };
        fs::create_dir(server.data()).unwrap();
        server.start();
        server
    }

    /// The port without TLS.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL with another user, password or options.
    #[must_use]
    pub fn url_of(&self, user: &str, password: &str, options: &str) -> String {
        format!("redis://{user}:{password}@127.0.0.1:{}/{options}", self.port)
    }

    /// Runs a command directly, without a client library.
    ///
    /// # Errors
    /// The error of the server or of the connection.
    pub fn command(&self, words: &[&str]) -> Result<String, String> {
        command_at(self.port, Self::PASSWORD, words)
    }

    /// Makes the server a replica of the server at a port of this host, and waits until it has
    /// replaced its data with the primary's.
    ///
    /// # Panics
    /// If this takes longer than half a minute.
    pub fn follow(&self, port: u16) {
        self.command(&["REPLICAOF", "127.0.0.1", &port.to_string()]).expect("the server runs");
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let state = self.command(&["INFO", "replication"]).unwrap_or_default();
            if state.contains("master_link_status:up") {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "Redis did not become a replica of port {port}: {state}"
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// Promotes the server to a primary.
    ///
    /// # Panics
    /// If the server does not run.
    pub fn promote(&self) {
        self.command(&["REPLICAOF", "NO", "ONE"]).expect("the server runs");
    }
}

/// Runs a command on the server at a port of this host.
pub(crate) fn command_at(port: u16, password: &str, words: &[&str]) -> Result<String, String> {
    let connect = || {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(stream)
    };
    let stream = connect().map_err(|error: std::io::Error| error.to_string())?;
    let mut replies = BufReader::new(stream);
    send(&mut replies, &["AUTH", password])?;
    send(&mut replies, words)
}

fn send(replies: &mut BufReader<TcpStream>, words: &[&str]) -> Result<String, String> {
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        let _ = write!(request, "${}\r\n{word}\r\n", word.len());
    }
    let sent = replies.get_mut().write_all(request.as_bytes());
    sent.map_err(|error| error.to_string())?;
    read_reply(replies).map_err(|error| error.to_string())?
}

/// Reads a reply. An array is returned with one element per line.
fn read_reply(replies: &mut BufReader<TcpStream>) -> std::io::Result<Result<String, String>> {
    let mut line = String::new();
    replies.read_line(&mut line)?;
    let Some((kind, rest)) = line.trim_end().split_at_checked(1) else {
        return Ok(Err("no reply".into()));
    };
    Ok(match kind {
        "-" => Err(rest.into()),
        "$" if rest == "-1" => Ok(String::new()),
        "$" => {
            let mut text = vec![0; rest.parse::<usize>().expect("a length") + 2];
            replies.read_exact(&mut text)?;
            text.truncate(text.len() - 2);
            Ok(String::from_utf8(text).expect("text"))
        }
        "*" => {
            let mut lines = Vec::new();
            for _ in 0..rest.parse().unwrap_or(0) {
                lines.push(read_reply(replies)?.unwrap_or_else(|error| error));
            }
            Ok(lines.join("\n"))
        }
        _ => Ok(rest.into()),
    })
}

impl Default for RedisServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Server for RedisServer {
    fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn url(&self) -> String {
        self.url_of("", Self::PASSWORD, "0")
    }

    fn lock(&self, duration: Duration) -> Result<(), String> {
        let paused = self.command(&["CLIENT", "PAUSE", &duration.as_millis().to_string(), "ALL"]);
        sleep(duration);
        paused.map(drop)
    }

    fn start(&self) {
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--requirepass", Self::PASSWORD, "--masterauth", Self::PASSWORD]);
        command.args(["--appendonly", "yes", "--appendfsync", "always", "--save", ""]);
        // Otherwise a new replica gets its data only after 5 s, because Redis waits for further
        // replicas.
        command.args(["--repl-diskless-sync-delay", "0"]);
        command.arg("--dir").arg(self.data()).args(&self.settings);
        self.daemon.start(&mut command, || self.command(&["PING"]).as_deref() == Ok("PONG"));
    }
}
