//! Tests that successive processes on the same fixed node never repeat an ID. Each process issues one ID. The processes
//! follow each other so quickly that many of them begin in the tick in which the previous process ended.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::process::Command;

use flakeid_core::{Generator, Id, Layout};

const CHILD: &str = "issue-one-id-of-layout";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, CHILD, layout] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        let layout: Layout = layout.parse().unwrap();
        println!("{}", Generator::new(layout, 1).unwrap().next_id().unwrap());
        return;
    }
    // The test starts only a few processes for the layout `baidu-29`, because each process must wait for the next
    // one-second tick.
    for (layout, starts) in [("twitter", 3_000), ("baidu-29", 6)] {
        let ids = run(layout, starts);
        let distinct: HashSet<&Id> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{layout}: an ID was issued by two processes");
        assert!(ids.is_sorted(), "{layout}: a later process issued a smaller ID");
        println!("test {starts} processes on one node in the layout {layout} ... ok");
    }
    println!("2 passed, 0 failed");
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
