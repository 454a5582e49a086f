//! Tests that successive processes on the same fixed node never repeat an ID. Each process issues one ID. The processes
//! follow each other so quickly that many of them begin in the tick in which the previous process ended.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::process::{Command, ExitCode};

use flakeid_core::{Generator, Id, Layout};

const CHILD: &str = "issue-one-id-of-layout";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, CHILD, layout] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        let layout: Layout = layout.parse().unwrap();
        println!("{}", Generator::new(layout, 1).unwrap().next_id().unwrap());
        return ExitCode::SUCCESS;
    }
    flakeid_test_runner::run(flakeid_test_runner::tests![
        processes_with_ticks_of_one_millisecond_share_no_id,
        processes_with_ticks_of_one_second_share_no_id,
    ])
}

fn processes_with_ticks_of_one_millisecond_share_no_id() {
    check("twitter", 3_000);
}

/// Starts only a few processes, because each process must wait for the next tick.
fn processes_with_ticks_of_one_second_share_no_id() {
    check("baidu-29", 6);
}

fn check(layout: &str, starts: usize) {
    let ids = run(layout, starts);
    let distinct: HashSet<&Id> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{layout}: an ID was issued by two processes");
    assert!(ids.is_sorted(), "{layout}: a later process issued a smaller ID");
}

fn run(layout: &str, starts: usize) -> Vec<Id> {
    let program = std::env::current_exe().unwrap();
    (0..starts)
        .map(|_| {
            let output = Command::new(&program).args([CHILD, layout]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
        })
        .collect()
}
