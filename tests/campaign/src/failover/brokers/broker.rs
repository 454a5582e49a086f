//! Brokers as processes of `flakeid serve`.

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_core::Layout;
use flakeid_test_servers::{HostClock, Process, free_port};

use super::super::issuer::NAMESPACE;

/// The longest time that a broker may take to stop: the default drain and the default timeout of the shutdown.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// A broker with a fixed address, which it keeps after a restart.
pub(super) struct BrokerProcess {
    store: String,
    layout: String,
    port: u16,
    /// A separate clock, whose time can be wrong.
    clock: Option<HostClock>,
    process: Option<Process>,
}

impl BrokerProcess {
    pub(super) fn new(store: &str, layout: &Layout) -> Self {
        let (store, layout) = (store.to_owned(), layout.to_string());
        Self { store, layout, port: free_port(), clock: None, process: None }
    }

    /// Adds a separate clock, before the broker starts.
    pub(super) fn with_clock(self) -> io::Result<Self> {
        Ok(Self { clock: Some(HostClock::new()?), ..self })
    }

    /// Sets the error of the separate clock in milliseconds.
    pub(super) fn set_clock_error(&self, ms: i64) -> io::Result<()> {
        let clock = self.clock.as_ref();
        clock.ok_or_else(|| io::Error::other("this broker has no separate clock"))?.set_error(ms)
    }

    /// The URL to which clients connect.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Starts the broker, and waits until it listens.
    pub(super) fn start(&mut self) -> io::Result<()> {
        let program = program()?;
        let listen = format!("127.0.0.1:{}", self.port);
        let mut command = Command::new(&program);
        if let Some(clock) = &self.clock {
            clock.apply_to(&mut command);
        }
        command.args(["serve", "--no-ids", "--store", &self.store, "--layout", &self.layout]);
        command.args(["--namespace", NAMESPACE, "--listen", &listen]);
        // The first line on standard output contains the address; the broker writes nothing there
        // later.
        let (reader, writer) = io::pipe()?;
        let process = Process::start(command.stdin(Stdio::null()).stdout(writer));
        drop(command);
        self.process = Some(process);
        let mut line = String::new();
        BufReader::new(reader).read_line(&mut line)?;
        if line.trim_end().ends_with(&format!(":{}", self.port)) {
            return Ok(());
        }
        Err(io::Error::other(format!("{} serve on {listen} printed {line:?}", program.display())))
    }

    /// Stops the broker with SIGTERM, and waits until the drain and the shutdown have ended.
    pub(super) fn stop(&mut self) -> io::Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        process.signal(libc::SIGTERM);
        let deadline = Instant::now() + STOP_TIMEOUT;
        while process.is_running() {
            if Instant::now() >= deadline {
                return Err(io::Error::other(format!(
                    "the broker has not ended in {STOP_TIMEOUT:?}"
                )));
            }
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Kills the broker with SIGKILL.
    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
            HostClock::clean_up(process.id());
        }
    }
}

/// Returns the path of the command, which is built into the same folder as this program.
fn program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("flakeid");
    if program.is_file() {
        return Ok(program);
    }
    let text =
        format!("{} does not exist: run `cargo xtask failover --brokers`", program.display());
    Err(io::Error::other(text))
}
