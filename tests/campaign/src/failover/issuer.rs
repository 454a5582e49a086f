//! The processes of a measurement. Each one issues 100 IDs per second and logs them with the time.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::Namespace;

use crate::stores;

/// The namespace that the processes lease from.
pub(super) const NAMESPACE: &str = "failover";

/// Creates the namespace with the default bounds.
pub(super) fn create_namespace(url: &str) -> io::Result<()> {
    stores::create_namespace(url, &Namespace::new(NAMESPACE, Layout::TWITTER))
}

/// The time for which processes run before the event.
pub(super) const BEFORE: Duration = Duration::from_secs(8);

/// The time between two IDs.
pub(super) const PERIOD: Duration = Duration::from_millis(10);

/// The options of a process.
#[derive(Args)]
pub(crate) struct Issuer {
    #[arg(long)]
    url: String,
    #[arg(long)]
    log: PathBuf,
    /// The number of milliseconds that the process's clock is ahead.
    #[arg(long, default_value_t = 0)]
    ahead_ms: i64,
}

/// A clock that is ahead by this number of milliseconds.
#[derive(Clone, Copy)]
struct Ahead(i64);

impl Clock for Ahead {
    fn unix_ms(&self) -> i64 {
        SystemClock.unix_ms().saturating_add(self.0)
    }
}

impl Issuer {
    /// Issues IDs until the log file is deleted.
    pub(crate) fn run(&self) -> io::Result<()> {
        let mut log = BufWriter::new(File::create(&self.log)?);
        write_line(&mut log, 0)?;
        let generator = loop {
            let builder = flakeid::lease(&self.url, Layout::TWITTER);
            let opened = builder.and_then(|builder| {
                builder.namespace(NAMESPACE).clock(Ahead(self.ahead_ms)).open()
            });
            match opened {
                Ok(generator) => break generator,
                Err(error) if error.kind().is_retryable() => sleep(PERIOD),
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        };
        let mut next = Instant::now();
        while self.log.exists() {
            match generator.next_id() {
                Ok(id) => write_line(&mut log, u64::from(id))?,
                Err(error) if error.kind().is_retryable() => {}
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
            next = (next + PERIOD).max(Instant::now());
            sleep(next - Instant::now());
        }
        generator.close();
        Ok(())
    }
}

/// Writes a line with the time and an ID; the ID is 0 when the process starts.
fn write_line(log: &mut impl Write, id: u64) -> io::Result<()> {
    writeln!(log, "{} {id}", SystemClock.unix_ms())?;
    log.flush()
}

/// The time at which a process started, and the IDs that it issued with their times, in Unix
/// milliseconds.
#[derive(Debug, Default)]
pub(super) struct Issued {
    pub(super) began: i64,
    pub(super) ids: Vec<(i64, u64)>,
}

/// The processes of a measurement.
pub(super) struct Fleet<'a> {
    url: &'a str,
    folder: &'a Path,
    processes: Vec<(Child, PathBuf)>,
    /// The results of the processes that have been stopped.
    ended: Vec<Issued>,
}

impl<'a> Fleet<'a> {
    pub(super) const fn new(url: &'a str, folder: &'a Path) -> Self {
        Self { url, folder, processes: Vec::new(), ended: Vec::new() }
    }

    pub(super) fn start(&mut self) -> io::Result<()> {
        self.start_with(self.url, 0)
    }

    /// Starts a process with another URL, or with a clock that is ahead.
    pub(super) fn start_with(&mut self, url: &str, ahead_ms: i64) -> io::Result<()> {
        let log = self.folder.join((self.ended.len() + self.processes.len()).to_string());
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["issuer", "--url", url, "--log"]).arg(&log);
        command.arg("--ahead-ms").arg(ahead_ms.to_string());
        self.processes.push((command.stdin(Stdio::null()).spawn()?, log));
        Ok(())
    }

    /// Stops all processes, in the order in which they were started.
    pub(super) fn stop(&mut self) -> io::Result<()> {
        for (_, log) in &self.processes {
            self.ended.push(parse(&fs::read_to_string(log)?)?);
            fs::remove_file(log)?;
        }
        for (mut child, _) in self.processes.drain(..) {
            let status = child.wait()?;
            if !status.success() {
                return Err(io::Error::other(format!("a process failed: {status}")));
            }
        }
        Ok(())
    }

    /// Stops all processes, and returns the results of all, including those stopped earlier.
    pub(super) fn end(mut self) -> io::Result<Vec<Issued>> {
        self.stop()?;
        Ok(std::mem::take(&mut self.ended))
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for (child, _) in &mut self.processes {
            // The kill fails only if the process has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn parse(text: &str) -> io::Result<Issued> {
    let mut issued = Issued::default();
    // The last line may be incomplete.
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    for line in text[..end].lines() {
        let fields =
            line.split_once(' ').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
        match fields {
            Some((at, 0)) => issued.began = at,
            Some(entry) => issued.ids.push(entry),
            None => {
                return Err(io::Error::other(format!("a log contains the invalid line {line:?}")));
            }
        }
    }
    Ok(issued)
}
