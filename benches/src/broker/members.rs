//! Members of a broker in a separate process, so that the server's memory is measured alone and each process has
//! its own file descriptors.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Members, each with a connection and a node.
pub(super) struct Fleet {
    pub(super) address: SocketAddr,
    pub(super) namespace: &'static str,
    pub(super) members: usize,
    /// Interval between two renewals of one member.
    pub(super) interval: Duration,
}

/// Results of the requests for nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Joined {
    pub(super) granted: usize,
    pub(super) failed: usize,
    /// Time until the last member had a node, in milliseconds.
    pub(super) took_ms: f64,
    /// Of the first failure.
    pub(super) why: String,
}

/// Results of the renewals since then.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Renewed {
    pub(super) renewals: u64,
    pub(super) failed: u64,
    pub(super) seconds: f64,
    /// Median duration in microseconds.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// Of the first failure.
    pub(super) why: String,
}

impl Renewed {
    pub(super) fn per_second(&self) -> f64 {
        self.renewals as f64 / self.seconds
    }
}

/// A process of members, which renew until `end`.
pub(super) struct Members {
    process: Child,
    /// Standard input of the process. Closing it ends the members.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(super) joined: Joined,
}

impl Members {
    /// Starts the process and waits until every member has a node or has failed to get one.
    pub(super) fn start(fleet: &Fleet) -> Result<Self, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("members")
            .args(["--address", &fleet.address.to_string()])
            .args(["--namespace", fleet.namespace])
            .args(["--members", &fleet.members.to_string()])
            .args(["--interval-ms", &fleet.interval.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let output = BufReader::new(output.ok_or("the members' process has no standard output")?);
        let mut members = Self { process, input, output, joined: Joined::default() };
        members.joined = members.line()?;
        Ok(members)
    }

    /// Ends the members and returns the results of their renewals.
    pub(super) fn end(mut self) -> Result<Renewed, Box<dyn Error>> {
        drop(self.input.take());
        self.line()
    }

    fn line<T: DeserializeOwned>(&mut self) -> Result<T, Box<dyn Error>> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).map_err(|error| {
            format!("cannot read the output {line:?} of the members: {error}").into()
        })
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        drop(self.input.take());
        // The process ends by itself once its input is closed. Its output was read, or is not needed.
        if let Err(error) = self.process.wait() {
            eprintln!("flakeid-bench: cannot wait for the process of the members: {error}");
        }
    }
}
