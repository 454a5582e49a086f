//! Tests that every call to a parent's generator fails in a forked child.
//!
//! Where the kernel does not wipe pages at a fork, the library uses a `pthread_atfork` handler. The handler detects
//! `fork`, but not a raw `clone`. The last tests make the kernel refuse, and therefore test the handler.

#![cfg_attr(unix, allow(unsafe_code))]
#![allow(clippy::unwrap_used, clippy::panic)]

/// Runs no test, because other systems do not support fork.
#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    unix::run()
}

#[cfg(unix)]
mod unix {
    use std::collections::HashSet;
    use std::io::{Read, Write};
    use std::os::fd::FromRawFd;
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use flakeid_core::{
        CachedGenerator, Clock, Error, ErrorKind, Generator, Id, Layout, ManualClock, Overflow,
        RingOptions, SystemClock, Window,
    };

    type Fork = unsafe extern "C" fn() -> libc::pid_t;

    pub(super) fn run() -> ExitCode {
        let mut tests = tests_by("fork", libc::fork);
        #[cfg(target_os = "linux")]
        tests.extend(tests_by("clone", raw_clone));
        for (name, test) in WITH_THREADS {
            tests.push((name.into(), Box::new(test)));
        }
        // The kernel's refusal lasts until the process ends, so these tests come last.
        #[cfg(target_os = "linux")]
        for (name, test) in tests_by("fork_handler", libc::fork) {
            tests.push((name, refusing(test)));
        }
        #[cfg(target_os = "linux")]
        for (name, test) in WITH_THREADS {
            tests.push((format!("{name}_with_fork_handler"), refusing(Box::new(test))));
        }
        flakeid_test_runner::run(tests)
    }

    const WITH_THREADS: [(&str, fn()); 3] = flakeid_test_runner::tests![
        child_builds_generator_while_parents_threads_build,
        child_is_refused_while_parents_threads_wait,
        child_is_refused_by_its_parents_ring,
    ];

    fn tests_by(way: &str, fork: Fork) -> Vec<(String, Box<dyn Fn()>)> {
        let tests = [
            ("child_is_refused", child_is_refused as fn(Fork)),
            ("grandchild_is_refused", grandchild_is_refused),
            (
                "new_pages_keep_parents_generators_refused",
                new_pages_keep_parents_generators_refused,
            ),
            ("parent_and_children_share_no_id", parent_and_children_share_no_id),
        ];
        let named = |(name, test): (&str, fn(Fork))| -> (String, Box<dyn Fn()>) {
            (format!("{name}_by_{way}"), Box::new(move || test(fork)))
        };
        tests.map(named).into()
    }

    /// Returns a test during which, and after which, the kernel refuses to wipe pages at a fork.
    #[cfg(target_os = "linux")]
    fn refusing(test: Box<dyn Fn()>) -> Box<dyn Fn()> {
        static REFUSED: std::sync::Once = std::sync::Once::new();
        Box::new(move || {
            REFUSED.call_once(refuse_to_wipe);
            test();
        })
    }

    /// Makes the kernel reject `MADV_WIPEONFORK` in this thread and in the threads and processes that the thread starts,
    /// as kernels before Linux 4.14 do.
    #[cfg(target_os = "linux")]
    fn refuse_to_wipe() {
        use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};

        // The offsets in the kernel's `seccomp_data` of the call's number, and of the lower half of its third argument.
        let (number, advice) = (0, if cfg!(target_endian = "big") { 36 } else { 32 });
        let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let load = |offset| step(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
        let end = |action| step(BPF_RET | BPF_K, 0, 0, action);
        // Continues with the next step if the loaded value is `value`, and otherwise skips `others` steps.
        let only = |value, others| step(BPF_JMP | BPF_JEQ | BPF_K, 0, others, value);
        let mut steps = [
            load(number),
            only(libc::SYS_madvise as u32, 3),
            load(advice),
            only(libc::MADV_WIPEONFORK as u32, 1),
            end(libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
            end(libc::SECCOMP_RET_ALLOW),
        ];
        let filter = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: the kernel copies the filter, whose steps outlive the call.
        let is_installed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
                    == 0
        };
        assert!(is_installed, "{}", std::io::Error::last_os_error());
        // SAFETY: the advice applies to no page.
        let advised = unsafe { libc::madvise(std::ptr::null_mut(), 0, libc::MADV_WIPEONFORK) };
        assert_eq!(advised, -1, "the kernel still wipes pages");
    }

    /// Calls `clone` without the C library, so that no fork handler of a library runs.
    #[cfg(target_os = "linux")]
    unsafe extern "C" fn raw_clone() -> libc::pid_t {
        // SAFETY: without `CLONE_VM`, this call is equivalent to `fork`. The parent makes the call while it has only
        // one thread, so the child does not inherit a lock that another thread holds.
        unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t }
    }

    /// Runs `child` in a child process, and returns the bytes that the child process wrote. Fails if the child
    /// process panics or hangs.
    fn in_child(fork: Fork, child: impl FnOnce(&mut dyn Write)) -> Vec<u8> {
        let mut ends = [0; 2];
        // SAFETY: `ends` has room for the two file descriptors of the pipe.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        // SAFETY: the child process only calls `child`, and exits without unwinding into the parent's code.
        let pid = unsafe { fork() };
        assert!(pid >= 0, "{}", std::io::Error::last_os_error());
        if pid == 0 {
            // SAFETY: this process owns both descriptors and does not use them elsewhere. The alarm ends a child that
            // hangs.
            let mut pipe = unsafe {
                libc::alarm(20);
                libc::close(ends[0]);
                std::fs::File::from_raw_fd(ends[1])
            };
            let result =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| child(&mut pipe)));
            // SAFETY: the call only ends this process, which does not own a value that requires a destructor.
            unsafe { libc::_exit(i32::from(result.is_err())) };
        }
        // SAFETY: this process owns both descriptors and does not use them elsewhere.
        let mut pipe = unsafe {
            libc::close(ends[1]);
            std::fs::File::from_raw_fd(ends[0])
        };
        let mut written = Vec::new();
        pipe.read_to_end(&mut written).unwrap();
        let mut status = 0;
        // SAFETY: `status` is a writable integer, and `pid` is a child of this process.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child failed (status {status})");
        written
    }

    fn is_forked<T>(result: Result<T, Error>) {
        match result {
            Ok(_) => panic!("a child used an object of its parent"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Forked, "{error}"),
        }
    }

    fn every_call_is_refused(generator: &Generator) {
        is_forked(generator.next_id());
        is_forked(generator.try_next_id());
        is_forked(generator.fill(&mut [Id::default(); 3]));
        is_forked(generator.try_fill(&mut [Id::default(); 3]));
        is_forked(generator.next_ids(5));
        is_forked(generator.retire());
    }

    /// Builds a generator that runs so far ahead of the clock that its calls take the fast path without an exact clock
    /// reading.
    fn borrowing() -> Generator {
        let start = Layout::TWITTER.tick_at(SystemClock.unix_ms()).unwrap();
        Generator::builder(Layout::TWITTER)
            .node(4)
            .window(Window::new(start + 600_000, start + 3_600_000).unwrap())
            .max_ahead(Duration::from_secs(3_600))
            .overflow(Overflow::Borrow)
            .build()
            .unwrap()
    }

    fn windowed() -> Generator {
        Generator::builder(Layout::TWITTER)
            .node(3)
            .clock(ManualClock::new(1_500_000_000_000))
            .window(Window::new(0, u64::MAX).unwrap())
            .build()
            .unwrap()
    }

    /// Checks that a child does not wait for a queue lock that a thread of the parent holds.
    fn child_is_refused_while_parents_threads_wait() {
        let generator = Generator::new(Layout::TWITTER, 700).unwrap();
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for wanted in [1, 4_096, 4_096] {
                let (generator, stopped) = (&generator, &stopped);
                scope.spawn(move || {
                    let mut ids = vec![Id::default(); wanted];
                    while !stopped.load(Ordering::Relaxed) {
                        generator.fill(&mut ids).unwrap();
                    }
                });
            }
            for _ in 0..200 {
                in_child(libc::fork, |_| every_call_is_refused(&generator));
            }
            stopped.store(true, Ordering::Relaxed);
        });
        assert!(generator.stats().waits > 0, "no call waited");
    }

    fn child_is_refused(fork: Fork) {
        let fixed = Generator::new(Layout::TWITTER, 1).unwrap();
        let unused = Generator::new(Layout::TWITTER, 2).unwrap();
        let windowed = windowed();
        fixed.next_id().unwrap();
        windowed.next_id().unwrap();
        let borrowing = borrowing();
        borrowing.next_id().unwrap();
        assert!(borrowing.stats().largest_ahead > 100_000, "the generator is on the fast path");
        let shared = Generator::new(Layout::TWITTER, 5).unwrap();
        let mut local = shared.local();
        local.next_id().unwrap();
        in_child(fork, |_| {
            // The child must not use the chunk that the local handle reserved before the fork, because this chunk
            // belongs to the parent.
            is_forked(local.next_id());
            for generator in [&fixed, &unused, &windowed, &borrowing] {
                every_call_is_refused(generator);
            }
            is_forked(windowed.extend(u64::MAX));
            is_forked(Generator::new(Layout::TWITTER, 1));
            is_forked(Generator::builder(Layout::TWITTER).datacenter(0).worker(2).build());
            // Dropping the generators in the child must not free the parent's slots for another generator.
            drop(fixed);
            drop(windowed);
            let own = Generator::new(Layout::TWITTER, 4).unwrap();
            own.next_id().unwrap();
            every_call_is_refused(&unused);
        });
        // The closure owned `fixed` and `windowed`, so these generators are dropped in the parent process as well.
        unused.next_id().unwrap();
        Generator::new(Layout::TWITTER, 1).unwrap().next_id().unwrap();
    }

    fn grandchild_is_refused(fork: Fork) {
        let parents = Generator::new(Layout::TWITTER, 5).unwrap();
        parents.next_id().unwrap();
        in_child(fork, |_| {
            let own = Generator::new(Layout::TWITTER, 6).unwrap();
            own.next_id().unwrap();
            in_child(fork, |_| {
                every_call_is_refused(&parents);
                every_call_is_refused(&own);
                is_forked(Generator::new(Layout::TWITTER, 5));
                is_forked(Generator::new(Layout::TWITTER, 6));
                Generator::new(Layout::TWITTER, 7).unwrap().next_id().unwrap();
            });
            own.next_id().unwrap();
        });
        parents.next_id().unwrap();
    }

    /// Checks that new slots in the child do not make the parent's generators usable. Builds so many generators that
    /// their slots occupy several memory pages, first in the parent and then in the child.
    fn new_pages_keep_parents_generators_refused(fork: Fork) {
        const MANY: usize = 1000;
        let parents: Vec<Generator> = (0..MANY).map(|_| windowed()).collect();
        in_child(fork, |_| {
            let generators: Vec<Generator> = (0..MANY).map(|_| windowed()).collect();
            for generator in &generators {
                generator.next_id().unwrap();
            }
            for generator in &parents {
                is_forked(generator.try_next_id());
            }
        });
        for generator in &parents {
            generator.next_id().unwrap();
        }
    }

    /// Checks that the IDs of a parent and of four forked children are distinct. Each child generates IDs on its own
    /// node, and the parent continues on its original node.
    fn parent_and_children_share_no_id(fork: Fork) {
        const EACH: usize = 10_000;
        let generator = Generator::new(Layout::TWITTER, 10).unwrap();
        let mut all = HashSet::new();
        let mut expected = 0;
        for node in 11..15 {
            all.extend(generator.next_ids(EACH).unwrap());
            let written = in_child(fork, |pipe| {
                is_forked(generator.next_id());
                let own = Generator::new(Layout::TWITTER, node).unwrap();
                let bytes = own.next_ids(EACH).unwrap().into_iter().flat_map(Id::to_be_bytes);
                pipe.write_all(&bytes.collect::<Vec<u8>>()).unwrap();
            });
            let ids = written.chunks(8).map(|b| Id::from_be_bytes(b.try_into().unwrap()));
            all.extend(ids);
            expected += 2 * EACH;
        }
        assert_eq!(all.len(), expected);
    }

    /// Checks that a forked child cannot take the IDs in its parent's ring, and that the child does not wait for the
    /// parent's thread.
    fn child_is_refused_by_its_parents_ring() {
        let cached = CachedGenerator::with(
            &Generator::new(Layout::TWITTER, 20).unwrap(),
            RingOptions::new()
                .on_rejected_take(|error| panic!("the child must not call the handler: {error}")),
        )
        .unwrap();
        cached.next_id().unwrap();
        let mut ours = Some(cached);
        in_child(libc::fork, |_| {
            let cached = ours.take().unwrap();
            assert!(cached.stats().size > 0, "the ring contained IDs");
            is_forked(cached.take());
            is_forked(cached.next_id());
            drop(cached);
            let own = Generator::new(Layout::TWITTER, 21).unwrap();
            CachedGenerator::new(&own).unwrap().next_id().unwrap();
        });
        ours.unwrap().next_id().unwrap();
    }

    /// Checks that a child can build a generator while threads of the parent build generators. The registry and the
    /// slots of generators do not use locks, because a child could inherit a lock that is never released.
    fn child_builds_generator_while_parents_threads_build() {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let done = &done;
                scope.spawn(move || {
                    let layout = Layout::SONYFLAKE;
                    let mut node = thread;
                    while !done.load(Ordering::Relaxed) {
                        let generator = Generator::new(layout, node % 60_000).unwrap();
                        let _may_still_be_starting = generator.try_next_id();
                        node += 2;
                    }
                });
            }
            for round in 0..200 {
                in_child(libc::fork, |_| {
                    let own = Generator::new(Layout::SONYFLAKE, 60_000 + round).unwrap();
                    own.next_id().unwrap();
                });
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
