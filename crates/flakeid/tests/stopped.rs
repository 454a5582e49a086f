//! Tests of a process that is stopped, for example by a debugger, a frozen container or a closed laptop. The process
//! is stopped for longer than its window and the TTL of its lease. Another process leases the node in the meantime.
//! After the stopped process resumes, it must not issue IDs in the other process's window.
#![cfg(unix)]
#![allow(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::{Generator, LeaseBuilder};
use flakeid_core::{Error, ErrorKind, Id, Layout};
use flakeid_protocol::Identity;

/// The environment variables that specify the store and, optionally, the fixed node for a holder. A holder is another
/// process that runs the same test.
const URL: &str = "FLAKEID_TEST_STOPPED_URL";
const NODE: &str = "FLAKEID_TEST_STOPPED_NODE";

const WINDOW: Duration = Duration::from_millis(200);
const TTL: Duration = Duration::from_millis(300);
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a layout with two nodes.
fn layout() -> Layout {
    "t42.n1.s12@0/1ms".parse().unwrap()
}

fn on(url: &str) -> LeaseBuilder {
    flakeid::lease(url, layout()).unwrap().window(WINDOW).ttl(TTL)
}

fn node_of(id: Id) -> u64 {
    layout().unpack(id).unwrap().node
}

fn tick_of(id: Id) -> u64 {
    layout().unpack(id).unwrap().tick
}

/// A line of output from a holder process: an ID or the code of an error.
#[derive(Debug, PartialEq)]
enum Word {
    Id(Id),
    Error(String),
}

/// A child process that leases a node and continuously issues IDs.
struct Holder {
    child: Child,
    words: Receiver<Word>,
    /// The file that the store locks during each transaction.
    locked: File,
}

impl Holder {
    fn start(url: &str, node: Option<u64>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", thread::current().name().unwrap(), "--nocapture"]).env(URL, url);
        if let Some(node) = node {
            command.env(NODE, node.to_string());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, words) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let word = match line.split_once(' ') {
                    Some(("id", id)) => Word::Id(id.parse().unwrap()),
                    Some(("error", code)) => Word::Error(code.into()),
                    // Any other line was printed by the test runner.
                    _ => continue,
                };
                if sender.send(word).is_err() {
                    return;
                }
            }
        });
        let path = format!("{}-serial", url.trim_start_matches("sqlite://"));
        let locked = File::options().create(true).append(true).open(path).unwrap();
        Self { child, words, locked }
    }

    fn next(&self) -> Word {
        self.words.recv_timeout(TIMEOUT).expect("the holder prints nothing")
    }

    fn signal(&self, signal: libc::c_int) {
        let pid = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: the parent has not waited for the child yet, so the process ID is still valid.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }

    /// Stops the process, and waits until all its threads have stopped.
    fn suspend(&self) {
        self.signal(libc::SIGSTOP);
        let (pid, mut status) = (libc::pid_t::try_from(self.child.id()).unwrap(), 0);
        // SAFETY: `status` is a local variable, and the process is a child of this process.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED) }, pid);
        assert!(libc::WIFSTOPPED(status), "the holder has ended");
    }

    /// Whether the holder is in a transaction, during which no other process can use the store.
    fn is_in_transaction(&self) -> bool {
        let flock = |operation| {
            // SAFETY: `self.locked` keeps the file descriptor open.
            unsafe { libc::flock(self.locked.as_raw_fd(), operation) }
        };
        let is_free = flock(libc::LOCK_EX | libc::LOCK_NB) == 0;
        if is_free {
            assert_eq!(flock(libc::LOCK_UN), 0);
        }
        !is_free
    }

    /// Suspends the process while no transaction is in progress, and returns the IDs in the process's output.
    fn stop(&self) -> Vec<Id> {
        let mut said = Vec::new();
        // On a busy machine, the holder's window may have ended, so the holder may report errors before the next ID.
        while said.is_empty() {
            said.extend(id_of(self.next()));
        }
        self.suspend();
        while self.is_in_transaction() {
            self.signal(libc::SIGCONT);
            thread::sleep(Duration::from_millis(5));
            self.suspend();
        }
        // The stopped process writes nothing more, so all remaining output is already in the pipe.
        while let Ok(word) = self.words.recv_timeout(Duration::from_millis(200)) {
            said.extend(id_of(word));
        }
        said
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The result is ignored, because killing the child process fails only if it has already exited.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// Issues IDs until the process is killed, if this process is a holder.
fn issue_ids_if_holder() {
    let Ok(url) = std::env::var(URL) else { return };
    let node = std::env::var(NODE).ok().map(|node| node.parse().unwrap());
    let identity = node.map_or(Identity::Any, Identity::Node);
    let builder = || on(&url).identity(identity.clone()).max_wait(Duration::from_millis(100));
    let generator = open(builder).unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out).unwrap();
    loop {
        match generator.next_id() {
            Ok(id) => writeln!(out, "id {id}").unwrap(),
            Err(error) => writeln!(out, "error {}", error.code()).unwrap(),
        }
        out.flush().unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

fn id_of(word: Word) -> Option<Id> {
    match word {
        Word::Id(id) => Some(id),
        Word::Error(code) => {
            assert_eq!(code, ErrorKind::LeaseExpired.code());
            None
        }
    }
}

/// Opens a lease. Retries for up to `TIMEOUT` if the store is unavailable, because requests on a busy machine may
/// exceed the store's timeout.
fn open(builder: impl Fn() -> LeaseBuilder) -> Result<Generator, Error> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match builder().open() {
            Err(error)
                if error.kind() == ErrorKind::StoreUnavailable && Instant::now() < deadline => {}
            opened => return opened,
        }
    }
}

/// Leases the given node as soon as the node is free.
fn take(url: &str, identity: &Identity, node: u64) -> Generator {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        // The observer prevents the generator from sharing another lease of this process.
        let builder =
            || on(url).identity(identity.clone()).node_range(node..=node).observer(|_| ());
        match open(builder) {
            Ok(generator) => return generator,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NoFreeNode, "{error}");
                assert!(Instant::now() < deadline, "{error}");
            }
        }
    }
}

fn assert_distinct(all: &[&[Id]]) {
    let mut seen = HashSet::new();
    for id in all.iter().flat_map(|ids| ids.iter()) {
        assert!(seen.insert(*id), "{id} was issued twice");
    }
}

#[test]
fn resumed_holder_takes_another_node_if_its_lease_expired() {
    issue_ids_if_holder();
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/flakeid.db", directory.path().display());
    let holder = Holder::start(&url, None);
    let mut before = Vec::new();
    for _ in 0..3 {
        before.extend(holder.stop());
        let node = node_of(*before.last().unwrap());
        let successor = take(&url, &Identity::Any, node);
        let mut theirs = successor.next_ids(1000).unwrap();
        assert!(theirs.iter().all(|id| node_of(*id) == node));
        holder.signal(libc::SIGCONT);
        // The holder may first report that its lease has expired, or issue IDs below the successor's window.
        let moved = loop {
            match holder.next() {
                Word::Id(id) if node_of(id) != node => break id,
                Word::Id(id) => {
                    assert!(tick_of(id) < tick_of(theirs[0]), "{id} is not below {}", theirs[0]);
                    before.push(id);
                }
                Word::Error(code) => assert_eq!(code, ErrorKind::LeaseExpired.code()),
            }
        };
        before.push(moved);
        theirs.extend(successor.next_ids(1000).unwrap());
        assert_eq!(
            flakeid::Lease::of(&successor).unwrap().status().grants,
            1,
            "the successor keeps the node"
        );
        assert!(before.is_sorted_by(|a, b| a < b), "the holder's IDs must increase across nodes");
        assert_distinct(&[&before, &theirs]);
    }
}

#[test]
fn resumed_holder_reports_the_loss_of_its_fixed_node() {
    issue_ids_if_holder();
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/flakeid.db", directory.path().display());
    let holder = Holder::start(&url, Some(1));
    let mut before = holder.stop();
    let successor = take(&url, &Identity::Node(1), 1);
    let mut theirs = successor.next_ids(1000).unwrap();
    thread::sleep(WINDOW.max(TTL));
    holder.signal(libc::SIGCONT);
    let mut errors = 0;
    while errors < 5 {
        match holder.next() {
            Word::Id(id) => {
                assert_eq!(errors, 0, "the holder issues IDs after its lease ended");
                assert!(tick_of(id) < tick_of(theirs[0]), "{id} is not below {}", theirs[0]);
                before.push(id);
            }
            Word::Error(code) => {
                assert_eq!(code, ErrorKind::LeaseExpired.code());
                errors += 1;
            }
        }
    }
    theirs.extend(successor.next_ids(1000).unwrap());
    assert_eq!(
        flakeid::Lease::of(&successor).unwrap().status().grants,
        1,
        "the successor keeps the node"
    );
    assert_distinct(&[&before, &theirs]);
}
