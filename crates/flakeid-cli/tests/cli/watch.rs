//! `flakeid leases watch` in a pipe: one line for each change.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::leases::die_with;
use crate::run::{flakeid, run, scratch};

/// Reads lines up to the given event of a node, and returns that line.
fn until(lines: &mut impl BufRead, node: u64, event: &str) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(
            lines.read_line(&mut line).unwrap(),
            0,
            "the output ended before {event} of {node}"
        );
        let value: Value = serde_json::from_str(&line).expect(&line);
        if value["node"] == node && value["event"] == event {
            return value;
        }
    }
}

/// Kills the command, which ends it like Ctrl-C.
fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn watch_writes_a_line_for_every_change() {
    let (_, url) = scratch("watch");
    let repair = |args: &[&str]| {
        run(&[&["leases"], args, &["--yes", "--store", &url]].concat()).quiet();
    };
    let pid = die_with(&url, "7");
    let mut child = flakeid()
        .args(["leases", "watch", "--store", &url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(until(&mut lines, 7, "present")["pid"], pid);
    repair(&["release", "7"]);
    assert_eq!(until(&mut lines, 7, "released")["state"], "free");
    repair(&["quarantine", "7"]);
    until(&mut lines, 7, "quarantined");
    repair(&["quarantine", "7", "--lift"]);
    until(&mut lines, 7, "lifted");
    let other = die_with(&url, "8");
    assert_eq!(until(&mut lines, 8, "acquired")["pid"], other);
    let again = die_with(&url, "8");
    let taken = until(&mut lines, 8, "acquired");
    assert_eq!((&taken["pid"], &taken["grant"]), (&again.into(), &2.into()));
    end(child);
}
