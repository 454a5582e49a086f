//! Child processes that each lease a node for a window of 10 s and exit without releasing the node.

use std::path::Path;
use std::process::{Command, Output};

use flakeid_protocol::{Acquire, Identity};

use crate::operations;
use crate::restorations::{SPACE, request};
use crate::store_under_test::{Sqlite, connect, persist};

/// The environment variable that passes the store's URL to a child process that leases a node.
const LESSEE: &str = "FLAKEID_TEST_SQLITE_LESSEE";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The granted node, the first tick of the window, and the window's fence.
    Granted(u64, u64, u64),
    Refused(String),
}

impl Answer {
    pub fn refusal(&self) -> &str {
        match self {
            Self::Refused(text) => text,
            Self::Granted(..) => panic!("{self:?}"),
        }
    }

    pub fn node(&self) -> u64 {
        match self {
            Self::Granted(node, ..) => *node,
            Self::Refused(text) => panic!("{text}"),
        }
    }
}

/// Builds a command that leases any free node of the store in `file` for a window of 10 s.
pub fn of(file: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "lessee::node_of_an_exited_process_is_not_granted_again_in_its_window",
        "--nocapture",
    ]);
    command.env(LESSEE, format!("sqlite://{}", file.display()));
    command
}

pub fn run(mut lessee: Command) -> Answer {
    answer(&lessee.output().unwrap())
}

pub fn answer(output: &Output) -> Answer {
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines()
        .find_map(|line| {
            if let Some(text) = line.strip_prefix("refused ") {
                return Some(Answer::Refused(text.into()));
            }
            let numbers = line.strip_prefix("granted ")?;
            let mut numbers = numbers.split(' ').map(|number| number.parse().unwrap());
            let mut next = || numbers.next().unwrap();
            Some(Answer::Granted(next(), next(), next()))
        })
        .unwrap_or_else(|| panic!("the child printed no outcome: {output:?}"))
}

/// Checks that no two grants of the same node contain the same tick.
pub fn check_apart(answers: &[Answer]) {
    for (at, one) in answers.iter().enumerate() {
        for other in &answers[..at] {
            let (Answer::Granted(node, start, fence), Answer::Granted(again, from, to)) =
                (one, other)
            else {
                continue;
            };
            let apart = node != again || fence <= from || to <= start;
            assert!(apart, "the same ticks of one node were granted twice: {other:?}, {one:?}");
        }
    }
}

/// Returns the sorted names of the files in a directory.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Child processes of other tests also run this test. In a child process, it leases a node and prints the outcome.
#[test]
fn node_of_an_exited_process_is_not_granted_again_in_its_window() {
    let Ok(url) = std::env::var(LESSEE) else {
        let store = Sqlite::new();
        let nodes = [(); 3].map(|()| run(of(&store.file())).node());
        assert!(nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[2] != nodes[0], "{nodes:?}");
        return;
    };
    let request = || Acquire { identity: Identity::Any, window_ms: 10_000, ..request(0) };
    let granted = persist(|| operations::acquire(&mut *connect(&url)?, SPACE, &request()));
    // The outcome is printed on a new line, because the test harness may already have written part of a line.
    match granted {
        Ok(grant) => println!("\ngranted {} {} {}", grant.node, grant.start, grant.fence),
        Err(fault) => println!("\nrefused {fault:?}"),
    }
}
