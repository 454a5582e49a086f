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
    urls: Vec<(String, String)>,
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
        Ok(Self { urls: Vec::new(), keeper, input })
    }

    /// Waits until all servers accept connections.
    pub fn ready(mut self) -> Result<Self, Failed> {
        let Some(output) = self.keeper.stdout.take() else {
            return Err(Failed("the private servers have no output".to_owned()));
        };
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| Failed(format!("the private servers: {error}")))?;
            match line.split_once(' ') {
                Some((kind, url)) => self.urls.push((kind.to_owned(), url.to_owned())),
                None => return Ok(self),
            }
        }
        Err(Failed("the private servers did not start".to_owned()))
    }

    /// Returns the URL of the server of the given kind.
    pub fn url(&self, kind: &str) -> Result<&str, Failed> {
        let found = self.urls.iter().find(|(known, _)| known == kind);
        found.map(|(_, url)| url.as_str()).ok_or_else(|| Failed(format!("no {kind} was started")))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.input.take());
        // A failure has no consequence here, because the servers are no longer needed.
        let _ = self.keeper.wait();
    }
}
