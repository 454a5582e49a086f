//! Tests of processes that fork while other threads run transactions. No process may deadlock, no tick may be granted
//! twice, and the database must stay intact.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]
#![cfg_attr(unix, allow(unsafe_code))]

/// Runs no test, because other systems do not support fork.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    unix::run()
}

#[cfg(unix)]
mod unix {
    use std::collections::BTreeMap;
    use std::io::Write;
    use std::os::unix::fs::FileExt;
    use std::path::Path;
    use std::process::ExitCode;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;
    use std::time::Instant;

    use flakeid_core::{Clock, Layout, SystemClock};
    use flakeid_protocol::store::Fault;
    use flakeid_protocol::{Acquire, Refusal, Token, operations};
    use flakeid_stores::Location;

    const FORKS: u64 = 300;

    pub(super) fn run() -> ExitCode {
        flakeid_test_runner::run(flakeid_test_runner::tests![
            forks_during_transactions_grant_no_tick_twice
        ])
    }

    fn forks_during_transactions_grant_no_tick_twice() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let log = directory.path().join("log");
        std::fs::write(&log, "").unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        take(&url, &log);
                    }
                });
            }
            let mut alive = Vec::new();
            for _ in 0..FORKS {
                // SAFETY: `alarm` only sets a timer. If no child ends in time, the timer kills the process.
                unsafe { libc::alarm(240) };
                alive.push(fork(&url, &log));
                // Waits for the oldest child, so that at most four children run at a time.
                if alive.len() == 4 {
                    wait(alive.remove(0));
                }
            }
            alive.into_iter().for_each(wait);
            stop.store(true, Ordering::Relaxed);
        });
        check(&log, &directory.path().join("flakeid.db"));
    }

    fn fork(url: &str, log: &Path) -> libc::pid_t {
        // SAFETY: the child calls only functions that are safe after a multithreaded process forks, and ends with
        // `_exit`. The C library's allocator is also safe after a fork.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork failed");
        if pid == 0 {
            let done = std::panic::catch_unwind(|| take(url, log));
            // SAFETY: `_exit` has no preconditions, and it ends only the child process.
            unsafe { libc::_exit(i32::from(done.is_err())) };
        }
        pid
    }

    fn wait(pid: libc::pid_t) {
        let mut status = 0;
        // SAFETY: `pid` is a child of this process, and `status` is a local variable.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        assert_eq!((waited, status), (pid, 0), "the child failed");
    }

    /// Acquires a node from a small range, and appends the window of the grant to the log file.
    fn take(url: &str, log: &Path) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut store = Location::parse(url).unwrap().connect(&clock).unwrap();
        loop {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let bits = u128::from(next) << 32 | u128::from(std::process::id());
            let request = Acquire {
                to: 7,
                window_ms: 5,
                ttl_ms: 1,
                ..Acquire::any_node(Layout::TWITTER, Token::from_bits(bits), clock.unix_ms())
            };
            let asked = operations::acquire_read_at(&mut *store, "forks", &request, Instant::now());
            match asked {
                Ok(grant) => {
                    let line = format!("{} {} {}\n", grant.node, grant.start, grant.fence);
                    let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
                    file.write_all(line.as_bytes()).unwrap();
                    return;
                }
                Err(Fault::Unavailable(_) | Fault::Refused(Refusal::NoFreeNode { .. })) => {}
                Err(fault) => panic!("{fault:?}"),
            }
        }
    }

    fn check(log: &Path, file: &Path) {
        let mut windows: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        let text = std::fs::read_to_string(log).unwrap();
        for line in text.lines() {
            let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
            windows.entry(numbers[0]).or_default().push((numbers[1], numbers[2]));
        }
        let count: usize = windows.values().map(Vec::len).sum();
        assert!(count as u64 > FORKS, "{count} windows");
        for (node, windows) in &mut windows {
            windows.sort_unstable();
            for pair in windows.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "node {node}: {pair:?}");
            }
        }
        let connection = rusqlite::Connection::open(file).unwrap();
        let verdict: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
        let mut head = [0; 16];
        std::fs::File::open(file).unwrap().read_exact_at(&mut head, 0).unwrap();
        assert!(head.starts_with(b"SQLite format 3"));
        println!("{count} windows on {} nodes", windows.len());
    }
}
