//! A supervised broker: a new process is started whenever the old one ends.

#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use flakeid_core::{Clock, SystemClock};
use flakeid_protocol::Acquire;
use flakeid_stores::fresh_token;
use flakeid_test_servers::{HostClock, Proxy, free_port};
use tempfile::TempDir;

use crate::fault::BrokerFault;
use crate::ids::LAYOUT;
use crate::lease_options::{NAMESPACE, SHORT_WINDOW_MS};
use crate::stores::HeldNodes;

/// The delay before a broker is started again. It doubles each time, until a process has run for
/// [`STABLE_AFTER`].
const FIRST_BACK_OFF: Duration = Duration::from_millis(50);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(1);
const STABLE_AFTER: Duration = Duration::from_secs(1);
/// The time for a broker to end after SIGTERM before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The time for the first process to listen.
const START_TIMEOUT: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_millis(5);
/// The exit code of the command after an error that it has printed, such as an unavailable store.
const REPORTED_ERROR: i32 = 1;

/// A broker, and the proxy through which its clients connect.
pub(super) struct SupervisedBroker {
    proxy: Proxy,
    supervisor: Arc<Supervisor>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Supervisor {
    number: usize,
    port: u16,
    arguments: Vec<String>,
    program: PathBuf,
    clock: HostClock,
    /// The folder for the output of the processes.
    home: TempDir,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    child: Option<Child>,
    /// Whether the child was killed or terminated on purpose.
    is_end_intended: bool,
    is_over: bool,
    crashed: Vec<String>,
}

impl SupervisedBroker {
    /// Creates a broker for the store at this URL.
    pub(super) fn new(number: usize, store: &str) -> io::Result<Self> {
        let port = free_port();
        let proxy = Proxy::to(port);
        let window = format!("{SHORT_WINDOW_MS}ms");
        let (listen, advertise) = (
            format!("{}:{port}", Ipv4Addr::LOCALHOST),
            format!("http://{}:{}", Ipv4Addr::LOCALHOST, proxy.port()),
        );
        let arguments = [
            ["--store", store],
            ["--namespace", NAMESPACE],
            ["--layout", "twitter"],
            ["--listen", &listen],
            ["--advertise", &advertise],
            ["--lease-window", &window],
            ["--shutdown-timeout", "1s"],
        ];
        let supervisor = Supervisor {
            number,
            port,
            arguments: arguments.concat().into_iter().map(Into::into).collect(),
            program: program()?,
            clock: HostClock::new()?,
            home: tempfile::Builder::new().prefix("flakeid-broker").tempdir()?,
            state: Mutex::default(),
        };
        Ok(Self { proxy, supervisor: Arc::new(supervisor), thread: Mutex::new(None) })
    }

    /// The address to which clients connect.
    pub(super) fn host(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.proxy.port())
    }

    /// Starts the broker, and waits until it listens.
    pub(super) fn start(&self) -> io::Result<()> {
        let supervisor = Arc::clone(&self.supervisor);
        let thread = thread::Builder::new().spawn(move || supervisor.supervise())?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.supervisor.port)).is_err() {
            let crashed = self.crashed();
            if !crashed.is_empty() || Instant::now() >= deadline {
                let printed = self.supervisor.printed();
                return Err(io::Error::other(format!(
                    "a broker did not start: {}\n{printed}",
                    crashed.join("; ")
                )));
            }
            thread::sleep(INTERVAL);
        }
        Ok(())
    }

    /// Injects a fault. Returns `false` if the broker is down.
    pub(super) fn inject(&self, fault: BrokerFault, duration: Duration) -> io::Result<bool> {
        let proxy = &self.proxy;
        match fault {
            BrokerFault::Killed => return self.supervisor.kill(),
            BrokerFault::Ended => return self.supervisor.end(),
            BrokerFault::Stopped => {
                if !self.supervisor.state().signal(libc::SIGSTOP) {
                    return Ok(false);
                }
                thread::sleep(duration);
                return Ok(self.supervisor.state().signal(libc::SIGCONT));
            }
            BrokerFault::Clock(setting) => {
                self.supervisor.clock.set_error(setting.error_ms(SystemClock.unix_ms()))?;
                thread::sleep(duration);
                self.supervisor.clock.set_error(0)?;
                return Ok(true);
            }
            BrokerFault::Cut => {
                proxy.cut();
                proxy.reset();
            }
            BrokerFault::Silenced => proxy.cut(),
            BrokerFault::Delayed => proxy.delay(duration / 8),
            BrokerFault::Impersonated(other_service) => {
                let other_service = other_service.listen();
                proxy.redirect(other_service.port());
                proxy.reset();
                thread::sleep(duration);
                proxy.heal();
                return Ok(true);
            }
            BrokerFault::Full => return self.fill_up(duration),
            BrokerFault::WithoutStore => {
                return Err(io::Error::other("this fault belongs to the store's network"));
            }
        }
        thread::sleep(duration);
        proxy.heal();
        Ok(true)
    }

    /// Leases nodes until the broker has none left, and releases them later. Returns `false` if the
    /// broker granted none.
    fn fill_up(&self, duration: Duration) -> io::Result<bool> {
        let url = format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.supervisor.port);
        let (window_ms, ttl_ms) = (SHORT_WINDOW_MS, 3 * SHORT_WINDOW_MS);
        let any = Acquire::any_node(LAYOUT, fresh_token(), 0);
        let request = Acquire { window_ms, ttl_ms, ..any };
        let begun = Instant::now();
        let is_over = |_| begun.elapsed() >= duration;
        let held = HeldNodes::lease(&url, NAMESPACE, &request, is_over)?;
        thread::sleep(duration.saturating_sub(begun.elapsed()));
        Ok(!held.is_empty())
    }

    /// Returns the processes that ended or panicked unexpectedly.
    pub(super) fn crashed(&self) -> Vec<String> {
        let mut crashed = self.supervisor.state().crashed.clone();
        let printed = self.supervisor.printed();
        let panicked = printed.lines().filter(|line| line.contains("panicked at"));
        crashed.extend(panicked.map(|line| format!("broker {}: {line}", self.supervisor.number)));
        crashed
    }
}

impl Drop for SupervisedBroker {
    fn drop(&mut self) {
        self.supervisor.state().is_over = true;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // If the thread has panicked, `Supervisor::drop` kills the child.
        drop(thread.map(JoinHandle::join));
    }
}

impl Supervisor {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Runs one process after another until the campaign is over.
    fn supervise(&self) {
        let mut back_off = FIRST_BACK_OFF;
        while !self.is_over() {
            let started = Instant::now();
            match self.spawn() {
                Ok(child) => {
                    let mut state = self.state();
                    (state.child, state.is_end_intended) = (Some(child), false);
                }
                Err(error) => {
                    let text = format!("{}: {error}", self.program.display());
                    self.state().crashed.push(text);
                    return;
                }
            }
            while !self.has_ended() {
                thread::sleep(INTERVAL);
            }
            let ended = Instant::now();
            if ended - started >= STABLE_AFTER {
                back_off = FIRST_BACK_OFF;
            }
            while ended.elapsed() < back_off && !self.is_over() {
                thread::sleep(INTERVAL);
            }
            back_off = (back_off * 2).min(LONGEST_BACK_OFF);
        }
    }

    fn spawn(&self) -> io::Result<Child> {
        let log = File::options().create(true).append(true).open(self.log())?;
        let mut command = Command::new(&self.program);
        self.clock.apply_to(&mut command);
        command
            .args(["serve", "--no-ids", "--drain", "1s"])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
    }

    /// Whether the process has ended. Kills the process if the campaign is over.
    fn has_ended(&self) -> bool {
        let mut state = self.state();
        let (is_end_intended, is_over) = (state.is_end_intended, state.is_over);
        let Some(child) = &mut state.child else { return true };
        if is_over {
            end_now(child);
            state.child = None;
            return true;
        }
        let process = child.id();
        match child.try_wait() {
            Ok(None) => return false,
            Ok(Some(status)) if is_end_intended || has_reported_error(status) => {}
            Ok(Some(status)) => {
                let text = format!("broker {} ended unexpectedly: {status}", self.number);
                state.crashed.push(text);
            }
            Err(error) => {
                let text = format!("broker {} cannot be waited for: {error}", self.number);
                state.crashed.push(text);
            }
        }
        HostClock::clean_up(process);
        state.child = None;
        true
    }

    fn kill(&self) -> io::Result<bool> {
        let mut state = self.state();
        state.is_end_intended = true;
        let Some(child) = &mut state.child else { return Ok(false) };
        child.kill()?;
        Ok(true)
    }

    /// Sends SIGTERM, and kills the process if it does not end in time.
    fn end(&self) -> io::Result<bool> {
        let ended = {
            let mut state = self.state();
            state.is_end_intended = true;
            if !state.signal(libc::SIGTERM) {
                return Ok(false);
            }
            state.child.as_ref().map(Child::id)
        };
        let deadline = Instant::now() + END_TIMEOUT;
        while self.state().child.as_ref().map(Child::id) == ended {
            if Instant::now() >= deadline {
                return self.kill();
            }
            thread::sleep(INTERVAL);
        }
        Ok(true)
    }

    fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }

    fn printed(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }
}

impl State {
    /// Sends a signal. Returns `false` if there is no process.
    fn signal(&self, signal: libc::c_int) -> bool {
        let Some(child) = &self.child else { return false };
        let Ok(process) = libc::pid_t::try_from(child.id()) else { return false };
        // SAFETY: the child has not been waited for, so no other process can have its process ID.
        unsafe { libc::kill(process, signal) == 0 }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Some(mut child) = self.state().child.take() {
            end_now(&mut child);
        }
    }
}

fn end_now(child: &mut Child) {
    // Both calls fail only if the process has ended.
    let _ = child.kill();
    let _ = child.wait();
    HostClock::clean_up(child.id());
}

/// Whether the process ended with an error message, as it does while its store is unavailable.
fn has_reported_error(status: ExitStatus) -> bool {
    status.signal().is_none() && status.code() == Some(REPORTED_ERROR)
}

/// Returns the path of the command, which lies next to this program.
fn program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("flakeid");
    if program.is_file() {
        return Ok(program);
    }
    let reason =
        format!("brokers need {}: build it with `cargo build -p flakeid-cli`", program.display());
    Err(io::Error::other(reason))
}
