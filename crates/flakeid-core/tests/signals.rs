//! Tests that the library's threads block the program's signals, so that only the program's own threads handle the
//! signals.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::thread;
use std::time::Duration;

use flakeid_core::internal::spawn_background;
use flakeid_core::{CachedGenerator, Generator, Layout};

/// Returns the blocked signals of a thread, as a mask with one bit per signal.
fn blocked(task: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/self/task/{task}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

fn blocked_here() -> u64 {
    blocked("../../thread-self")
}

/// Returns the ID of the thread with the given name. Repeats the search, because a thread's name becomes visible
/// shortly after the thread has started.
fn task(name: &str) -> String {
    loop {
        for entry in fs::read_dir("/proc/self/task").unwrap() {
            let task = entry.unwrap().file_name().into_string().unwrap();
            let comm = fs::read_to_string(format!("/proc/self/task/{task}/comm"));
            if comm.is_ok_and(|comm| comm.trim() == name) {
                return task;
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
}

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

fn assert_blocks_program_signals(name: &str) {
    let mask = blocked(&task(name));
    for signal in
        [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGALRM, libc::SIGUSR1]
    {
        assert_ne!(mask & bit(signal), 0, "{name} takes signal {signal}: {mask:x}");
    }
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGPROF] {
        assert_eq!(mask & bit(signal), 0, "{name} blocks signal {signal}: {mask:x}");
    }
}

#[test]
fn library_threads_never_receive_the_programs_signals() {
    let own = blocked_here();
    let ring = CachedGenerator::new(&Generator::new(Layout::TWITTER, 817).unwrap()).unwrap();
    assert_blocks_program_signals("flakeid-ring");
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let other = spawn_background("flakeid-other", move || {
        let _ended = ended.recv();
    })
    .unwrap();
    assert_blocks_program_signals("flakeid-other");
    assert_eq!(blocked_here(), own, "the caller's blocked signals are unchanged");
    drop((end, ring));
    other.join().unwrap();
}
