//! Private servers for tests and programs in other languages, which the program of `tests/servers`
//! starts.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::step::{Failed, Step};
use crate::{files, workspace};

/// Returns a port on which nothing listens.
pub fn free_port() -> Result<u16, Failed> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| Failed(format!("no port: {error}")))
}

/// Servers that run, or are starting, until this value is dropped.
pub struct Servers {
    /// The kind of each server, its URL, and the address of such a store in the guide.
    started: Vec<[String; 3]>,
    keeper: Child,
    /// The standard input of the keeper process. Closing it stops the servers.
    input: Option<ChildStdin>,
}

impl Servers {
    /// Starts a server of each of these kinds, or of every kind if `kinds` is empty.
    pub fn start(kinds: &[&str]) -> Result<Self, Failed> {
        Self::begin(kinds)?.ready()
    }

    /// Starts the servers without waiting until they are [`ready`](Self::ready).
    pub fn begin(kinds: &[&str]) -> Result<Self, Failed> {
        let program = workspace::build_programs(&["flakeid-test-servers"])?;
        let step = Step::new(&files::shown(&program.join("flakeid-test-servers"))?, &[]);
        // The servers keep their files in memory, because the files are needed only for a minute.
        let memory = "/dev/shm";
        let step = if Path::new(memory).is_dir() { step.env("TMPDIR", memory) } else { step };
        let mut keeper = step.args(kinds).spawn(Stdio::piped(), Stdio::piped())?;
        let input = keeper.stdin.take();
        Ok(Self { started: Vec::new(), keeper, input })
    }

    /// Waits until all servers accept connections.
    pub fn ready(mut self) -> Result<Self, Failed> {
        let Some(output) = self.keeper.stdout.take() else {
            return Err(Failed("the private servers have no output".to_owned()));
        };
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| Failed(format!("the private servers: {error}")))?;
            match line.split(' ').map(str::to_owned).collect::<Vec<_>>().try_into() {
                Ok(server) => self.started.push(server),
                Err(_) => return Ok(self),
            }
        }
        Err(Failed("the private servers did not start".to_owned()))
    }

    /// Returns the URL of the server of the given kind.
    pub fn url(&self, kind: &str) -> Result<&str, Failed> {
        let found = self.started.iter().find(|[known, ..]| known == kind);
        found
            .map(|[_, url, _]| url.as_str())
            .ok_or_else(|| Failed(format!("no {kind} was started")))
    }

    /// Returns the kinds and the URLs of the servers.
    pub fn urls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.started.iter().map(|[kind, url, _]| (kind.as_str(), url.as_str()))
    }

    /// Replaces the addresses of the guide in a string with the addresses of the private servers.
    pub fn with_addresses(&self, text: &str) -> String {
        let replace = |text: String, [_, url, example]: &[String; 3]| text.replace(example, url);
        self.started.iter().fold(text.to_owned(), replace)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.input.take());
        // A failure has no consequence here, because the servers are no longer needed.
        let _ = self.keeper.wait();
    }
}
