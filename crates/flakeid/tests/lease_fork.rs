//! Tests that a forked child does not use its parent's lease, but leases its own node.

#![cfg_attr(unix, allow(unsafe_code))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]

/// Runs no test, because other systems do not support fork.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    unix::run()
}

#[cfg(unix)]
mod forked;
#[cfg(unix)]
#[path = "../../flakeid-stores/tests/retrying/mod.rs"]
mod retrying;

#[cfg(unix)]
mod unix {
    use std::process::ExitCode;
    #[cfg(target_os = "linux")]
    use std::{
        io::{Read, Write},
        sync::Arc,
        thread,
        time::{Duration, Instant},
    };

    #[cfg(target_os = "linux")]
    use flakeid::CachedGenerator;
    use flakeid::Generator;
    use flakeid_core::{ErrorKind, Id, Layout};
    use flakeid_protocol::operations;
    use flakeid_protocol::{Identity, Row, State};

    use crate::forked::in_child;
    use crate::retrying::connect;

    const LAYOUT: Layout = Layout::TWITTER;

    pub(super) fn run() -> ExitCode {
        flakeid_test_runner::run(flakeid_test_runner::tests![
            forked_child_leases_its_own_node,
            forked_child_does_not_use_its_parents_name,
            forked_child_does_not_use_a_fixed_node,
            #[cfg(target_os = "linux")]
            forked_child_that_cannot_start_a_thread_tries_again,
            #[cfg(target_os = "linux")]
            child_forked_in_a_thread_exits_when_the_thread_returns,
            #[cfg(target_os = "linux")]
            child_does_not_exit_while_a_thread_without_a_name_runs,
        ])
    }

    fn open(url: &str, identity: Identity) -> Generator {
        flakeid::lease(url, LAYOUT).unwrap().identity(identity).open().unwrap()
    }

    fn node_of(id: Id) -> u64 {
        LAYOUT.unpack(id).unwrap().node
    }

    fn rows(url: &str) -> Vec<Row> {
        operations::list(&mut *connect(url).unwrap(), "default").unwrap().rows
    }

    fn held(url: &str, node: u64) -> Row {
        let row = rows(url).into_iter().find(|row| row.node == node).unwrap();
        assert_eq!(row.state, State::Held);
        row
    }

    fn forked_child_leases_its_own_node() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let generator = open(&url, Identity::Any);
        let (before, parents) = (generator.next_id().unwrap(), generator.node().unwrap());
        let row = held(&url, parents);
        in_child(60, || {
            let first = generator.next_id().unwrap();
            assert!(first > before, "IDs of one generator must increase across a fork");
            assert_ne!(node_of(first), parents);
            assert_eq!(Some(node_of(first)), generator.node());
            assert_eq!(held(&url, generator.node().unwrap()).owner.pid, std::process::id());
            let own = generator.node();
            drop(generator);
            let row = rows(&url).into_iter().find(|row| Some(row.node) == own).unwrap();
            assert_eq!(row.state, State::Free, "the child must release its own node");
        });
        let now = held(&url, parents);
        assert_eq!(
            (now.token, now.owner),
            (row.token, row.owner),
            "the parent's row must be unchanged"
        );
    }

    fn forked_child_does_not_use_its_parents_name() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let generator = open(&url, Identity::Name("orders-1".into()));
        let parents = generator.node().unwrap();
        in_child(60, || {
            assert_ne!(node_of(generator.next_id().unwrap()), parents);
            assert_eq!(held(&url, generator.node().unwrap()).owner.name, "");
        });
        assert_eq!(held(&url, parents).owner.name, "orders-1");
        assert_eq!(node_of(generator.next_id().unwrap()), parents);
    }

    /// Limits the child's memory so that the child cannot start a thread, even if the child runs as root.
    #[cfg(target_os = "linux")]
    fn forked_child_that_cannot_start_a_thread_tries_again() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let generator = open(&url, Identity::Any);
        let before = generator.next_id().unwrap();
        in_child(60, || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            let used: u64 = pages.split(' ').next().unwrap().parse().unwrap();
            let mut unlimited = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: `getrlimit` only writes to `unlimited`.
            assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut unlimited) }, 0);
            let limit = |bytes| {
                let limit = libc::rlimit { rlim_cur: bytes, ..unlimited };
                // SAFETY: `setrlimit` only reads `limit` and changes a resource limit of this process.
                assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
            };
            limit(used * 4096 + (1 << 20));
            // New threads reuse the stacks of the parent's threads before allocating memory. The loop uses up these
            // stacks.
            let sleep = || std::thread::sleep(std::time::Duration::from_secs(60));
            while std::thread::Builder::new().spawn(sleep).is_ok() {}
            for _ in 0..2 {
                let error = generator.next_id().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
                assert!(error.to_string().contains("thread"), "{error}");
            }
            let error = generator.next_id().unwrap_err();
            assert!(error.retry_after().is_some(), "{error}");
            limit(unlimited.rlim_cur);
            assert!(generator.next_id().unwrap() > before);
            generator.close();
        });
    }

    /// Checks that a child that was forked in a secondary thread exits when that thread returns in the child. The
    /// threads of the child's two leases and its ring must not keep the child alive.
    #[cfg(target_os = "linux")]
    fn child_forked_in_a_thread_exits_when_the_thread_returns() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let open = || {
            let builder = flakeid::lease(&url, LAYOUT).unwrap();
            Arc::new(builder.window(Duration::from_secs(3)).open().unwrap())
        };
        let (plain, under_ring) = (open(), open());
        let ring = CachedGenerator::new(&under_ring).unwrap();
        let (mut from_child, to_parent) = std::io::pipe().unwrap();
        let forked = thread::scope(|scope| {
            let forking = scope.spawn(|| {
                // SAFETY: the child runs only the rest of this thread's code, which drops none of the parent's values.
                let pid = unsafe { libc::fork() };
                if pid == 0 {
                    let nodes = [plain.next_id(), ring.next_id()].map(|id| node_of(id.unwrap()));
                    (&to_parent).write_all(&nodes.map(u64::to_le_bytes).concat()).unwrap();
                }
                pid
            });
            forking.join().unwrap()
        });
        let mut nodes = [[0; 8]; 2];
        from_child.read_exact(nodes.as_flattened_mut()).unwrap();
        let since = Instant::now();
        let mut status = 0;
        // SAFETY: the parent has not waited for the child yet, and `status` is a local variable.
        while unsafe { libc::waitpid(forked, &raw mut status, libc::WNOHANG) } == 0 {
            if since.elapsed() > Duration::from_secs(20) {
                // SAFETY: the parent has not waited for the child yet, so the child's process ID is still valid.
                unsafe { libc::kill(forked, libc::SIGKILL) };
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(status, 0, "the child must exit by itself");
        for node in nodes.map(u64::from_le_bytes) {
            let row = rows(&url).into_iter().find(|row| row.node == node).unwrap();
            assert_eq!(row.state, State::Free, "the child must release its nodes");
        }
        plain.next_id().unwrap();
    }

    #[cfg(target_os = "linux")]
    fn child_does_not_exit_while_a_thread_without_a_name_runs() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let builder = flakeid::lease(&url, LAYOUT).unwrap();
        let generator = Arc::new(builder.window(Duration::from_secs(1)).open().unwrap());
        let forked = thread::scope(|scope| {
            let forking = scope.spawn(|| {
                // SAFETY: the child runs only the rest of this thread's code, which drops none of the parent's values.
                let pid = unsafe { libc::fork() };
                if pid == 0 {
                    // The new thread inherits this name.
                    std::fs::write("/proc/thread-self/comm", "flakeid-mine").unwrap();
                    generator.next_id().unwrap();
                    drop(thread::spawn(|| {
                        // The keeper checks several times in this time whether the process has ended.
                        thread::sleep(Duration::from_secs(3));
                        // SAFETY: `_exit` ends only this process.
                        unsafe { libc::_exit(7) };
                    }));
                }
                pid
            });
            forking.join().unwrap()
        });
        let mut status = 0;
        // SAFETY: the parent has not waited for the child yet, and `status` is a local variable.
        assert_eq!(unsafe { libc::waitpid(forked, &raw mut status, 0) }, forked);
        assert_eq!(libc::WEXITSTATUS(status), 7, "the thread must end the child");
    }

    fn forked_child_does_not_use_a_fixed_node() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/flakeid.db", directory.path().display());
        let generator = open(&url, Identity::Node(7));
        let row = held(&url, 7);
        in_child(60, || {
            assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::Forked);
            let again = flakeid::lease(&url, LAYOUT).unwrap().identity(Identity::Node(7));
            assert_eq!(again.open().unwrap_err().kind(), ErrorKind::Forked);
            assert_ne!(open(&url, Identity::Any).node(), Some(7));
        });
        assert_eq!(held(&url, 7).token, row.token);
        generator.next_id().unwrap();
    }
}
