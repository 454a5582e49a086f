//! The program's signals are left to the program's threads.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flakeid_core::{CachedGenerator, Generator, Layout, spawn_background};

/// The signals that this thread blocks, one bit each.
fn blocked(task: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/self/task/{task}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

fn blocked_here() -> u64 {
    blocked("../../thread-self")
}

/// The thread of that name, which the system knows a moment after it was started.
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

fn leaves_signals_alone(name: &str) {
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
fn threads_of_the_library_run_no_handler_of_the_program() {
    let own = blocked_here();
    let ring =
        CachedGenerator::new(Arc::new(Generator::new(Layout::TWITTER, 817).unwrap())).unwrap();
    leaves_signals_alone("flakeid-ring");
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let other = spawn_background("flakeid-other", move || {
        let _ended = ended.recv();
    })
    .unwrap();
    leaves_signals_alone("flakeid-other");
    assert_eq!(blocked_here(), own, "the caller's are as they were");
    drop((end, ring));
    other.join().unwrap();
}
