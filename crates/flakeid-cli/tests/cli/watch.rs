//! Tests of `flakeid leases watch` when its output is a pipe. In this case, the command writes one
//! line for each change.

use std::io::{BufRead, BufReader};
use std::process::Child;

use serde_json::Value;

use crate::leases::die_with;
use crate::run::{run, scratch, start};

/// Reads lines until the given event is reported for the given node, and returns the line with this
/// event.
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

/// Kills the command, which ends the output in the same way as Ctrl-C.
fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn watch_command_writes_a_line_for_every_lease_change() {
    let (_, url) = scratch("watch");
    let repair = |args: &[&str]| {
        run(&[&["leases"], args, &["--yes", "--store", &url]].concat()).quiet();
    };
    let pid = die_with(&url, "7");
    let mut child = start(&["leases", "watch", "--store", &url]);
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
