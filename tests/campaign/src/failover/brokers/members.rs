//! Members of a fleet that lease from brokers: threads of a few processes, each with a separate
//! lease.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use flakeid::LeaseEvent;
use flakeid_core::{Error, ErrorKind, Id, Layout};

use super::super::issuer::{NAMESPACE, PERIOD};
use super::measured::{Fleet, Member};

/// The options of a process with members.
#[derive(Args)]
pub(crate) struct Members {
    #[arg(long)]
    url: String,
    #[arg(long)]
    layout: String,
    #[arg(long)]
    threads: usize,
    /// The time between two IDs of a member, in milliseconds.
    #[arg(long)]
    period_ms: u64,
    /// The folder for the IDs and the measurements of each member.
    #[arg(long)]
    folder: PathBuf,
}

impl Members {
    /// Issues IDs until standard input ends, which also happens when the parent process is killed.
    pub(crate) fn run(&self) -> io::Result<()> {
        let layout: Layout = self.layout.parse().map_err(|error| other(&error))?;
        let (stop, period) = (AtomicBool::new(false), Duration::from_millis(self.period_ms));
        thread::scope(|scope| {
            let members: Vec<_> = (0..self.threads)
                .map(|_| scope.spawn(|| issue(&self.url, layout, period, &stop)))
                .collect();
            let read = io::stdin().read_to_end(&mut Vec::new());
            stop.store(true, Ordering::Relaxed);
            read?;
            for (number, member) in members.into_iter().enumerate() {
                let issued = member.join().map_err(|_| io::Error::other("a member panicked"))??;
                let (figures, ids) = issued;
                let mut log =
                    BufWriter::new(File::create(self.folder.join(format!("{number}.ids")))?);
                ids.iter().try_for_each(|id| log.write_all(&u64::from(*id).to_le_bytes()))?;
                log.flush()?;
                fs::write(
                    self.folder.join(format!("{number}.member")),
                    serde_json::to_string(&figures)?,
                )?;
            }
            Ok(())
        })
    }
}

/// The events of a member's lease.
#[derive(Default)]
struct Events {
    renewed: AtomicU64,
    failed: AtomicU64,
    no_free_node: AtomicU64,
    /// The number of failures for each error code.
    failure_codes: Mutex<BTreeMap<String, u64>>,
}

impl Events {
    fn note(&self, event: &LeaseEvent) {
        match event {
            LeaseEvent::Renewed { .. } => _ = self.renewed.fetch_add(1, Ordering::Relaxed),
            LeaseEvent::StoreLost { error }
            | LeaseEvent::Refused { error }
            | LeaseEvent::ClockSkew { error } => self.fail(error),
            _ => {}
        }
    }

    fn fail(&self, error: &Error) {
        let count =
            if error.kind() == ErrorKind::NoFreeNode { &self.no_free_node } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
        let mut failure_codes = self.failure_codes.lock().unwrap_or_else(PoisonError::into_inner);
        *failure_codes.entry(error.kind().code().to_owned()).or_default() += 1;
    }
}

/// Runs a member, which issues an ID in each period until `stop` is set.
fn issue(
    url: &str,
    layout: Layout,
    period: Duration,
    stop: &AtomicBool,
) -> io::Result<(Member, Vec<Id>)> {
    let events = Arc::new(Events::default());
    let observed = Arc::clone(&events);
    let begun = Instant::now();
    let generator = loop {
        let observed = Arc::clone(&observed);
        // Leases with an observer are not shared.
        let builder = flakeid::lease(url, layout).map_err(|error| other(&error))?;
        let builder = builder.namespace(NAMESPACE).observer(move |event| observed.note(event));
        match builder.open() {
            Ok(generator) => break generator,
            Err(error) if error.kind().is_retryable() && !stop.load(Ordering::Relaxed) => {
                events.fail(&error);
            }
            Err(error) => return Err(other(&error)),
        }
    };
    let first = begun.elapsed();
    let (mut ids, mut nodes) = (Vec::new(), Vec::new());
    let mut late = Duration::ZERO;
    let (mut longest, mut last, mut next) = (Duration::ZERO, Instant::now(), Instant::now());
    while !stop.load(Ordering::Relaxed) {
        match generator.next_id() {
            Ok(id) => {
                longest = longest.max(last.elapsed());
                last = Instant::now();
                ids.push(id);
                let node = layout.unpack(id).map_err(|error| other(&error))?.node;
                if nodes.last() != Some(&node) {
                    nodes.push(node);
                }
            }
            Err(error) if error.kind().is_retryable() => events.fail(&error),
            Err(error) => return Err(other(&error)),
        }
        next = (next + period).max(Instant::now());
        thread::sleep(next.saturating_duration_since(Instant::now()));
        late = late.max(next.elapsed());
    }
    longest = longest.max(last.elapsed());
    generator.close();
    let failure_codes = events.failure_codes.lock().unwrap_or_else(PoisonError::into_inner);
    let member = Member {
        longest_ms: longest.as_millis() as u64,
        first_ms: first.as_millis() as u64,
        late_ms: late.as_millis() as u64,
        moves: nodes.len().saturating_sub(1) as u64,
        renewed: events.renewed.load(Ordering::Relaxed),
        failed: events.failed.load(Ordering::Relaxed),
        no_free_node: events.no_free_node.load(Ordering::Relaxed),
        failure_codes: failure_codes.clone(),
    };
    Ok((member, ids))
}

fn other(error: &Error) -> io::Error {
    io::Error::other(error.to_string())
}

/// The runtimes of members in other languages.
#[derive(Args)]
pub(crate) struct Languages {
    /// A Python interpreter with the package flakeid. With --brokers, some of the members run in
    /// Python.
    #[arg(long)]
    python: Option<PathBuf>,
    /// The folder of the npm package flakeid-core, with its WebAssembly. With --brokers, some of the members use this
    /// package.
    #[arg(long)]
    wasm: Option<PathBuf>,
}

/// The programs that run members. Those of other languages have a name, and a command without the options of the
/// members.
pub(super) struct Runtimes {
    others: Vec<(&'static str, Vec<PathBuf>)>,
    /// The time between two IDs of a member in Rust.
    period: Duration,
}

/// The number of members in each of the other languages.
const MEMBERS_OF_OTHERS: usize = 6;

impl Runtimes {
    /// Runs all members in Rust.
    pub(super) const fn rust_only(period: Duration) -> Self {
        Self { others: Vec::new(), period }
    }

    pub(super) fn of(languages: &Languages) -> Self {
        let script = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let mut runtimes = Self::rust_only(PERIOD);
        if let Some(python) = &languages.python {
            runtimes.others.push(("Python", vec![python.clone(), script("member.py")]));
        }
        if let Some(package) = &languages.wasm {
            let package = ["--package".into(), package.clone()];
            let command = [vec!["node".into(), script("member.mjs")], package.into()].concat();
            runtimes.others.push(("WebAssembly", command));
        }
        runtimes
    }
}

impl Display for Runtimes {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let others = self.others.iter().map(|(name, _)| format!(", {name}"));
        write!(formatter, "{RUST}{}", others.collect::<String>())
    }
}

const RUST: &str = "Rust";

/// The processes with the members of one measurement: the name of the runtime, the process, and the
/// folder for its output.
pub(super) struct MemberProcesses(Vec<(&'static str, Child, PathBuf)>);

impl MemberProcesses {
    /// Starts members that lease from a URL, in several processes, and some members in each of the
    /// other runtimes.
    pub(super) fn start(
        url: &str,
        layout: &Layout,
        members: usize,
        folder: &Path,
        runtimes: &Runtimes,
    ) -> io::Result<Self> {
        let mut processes = Self(Vec::new());
        let mut start = |name, command: &[PathBuf], threads: usize| {
            let folder = folder.join(processes.0.len().to_string());
            fs::create_dir_all(&folder)?;
            let (program, arguments) =
                command.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
            let mut command = Command::new(program);
            command.args(arguments).args(["--url", url, "--layout", &layout.to_string()]);
            command.arg("--threads").arg(threads.to_string()).arg("--folder").arg(&folder);
            processes.0.push((name, command.stdin(Stdio::piped()).spawn()?, folder));
            io::Result::Ok(())
        };
        let most = members.div_ceil(PROCESSES);
        let period = runtimes.period.as_millis().to_string();
        let rust =
            [std::env::current_exe()?, "members".into(), "--period-ms".into(), period.into()];
        let mut left = members;
        while left > 0 {
            let threads = left.min(most);
            left -= threads;
            start(RUST, &rust, threads)?;
        }
        for (name, command) in &runtimes.others {
            start(name, command, MEMBERS_OF_OTHERS.min(members.div_ceil(PROCESSES)))?;
        }
        Ok(processes)
    }

    /// Ends the processes. Returns the measurements of each member by runtime, and all IDs.
    pub(super) fn end(mut self) -> io::Result<(Fleet, Vec<u64>)> {
        for (_, child, _) in &mut self.0 {
            drop(child.stdin.take());
        }
        let (mut fleet, mut ids) = (Fleet::new(), Vec::new());
        for (name, child, folder) in &mut self.0 {
            let status = child.wait()?;
            if !status.success() {
                return Err(io::Error::other(format!("a process of members failed: {status}")));
            }
            let mut members = Vec::new();
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "ids") {
                    let bytes = fs::read(path)?;
                    ids.extend(bytes.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id)));
                } else {
                    members.push(serde_json::from_slice(&fs::read(path)?)?);
                }
            }
            match fleet.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.extend(members),
                None => fleet.push((*name, members)),
            }
        }
        Ok((fleet, ids))
    }
}

/// The number of processes in Rust. More processes would need more memory, and fewer would pause
/// longer.
const PROCESSES: usize = 4;

impl Drop for MemberProcesses {
    fn drop(&mut self) {
        for (_, child, _) in &mut self.0 {
            // The kill fails only if the process has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
