use std::collections::HashMap;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_core::{Id, Layout, TextForm};

use crate::run::{Run, flakeid, run, run_with};

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn ids(run: &Run) -> Vec<Id> {
    run.lines().iter().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn one_id_of_the_node_and_of_now() {
    let before = now_ms();
    let run = run(&["next", "--node", "569"]).quiet();
    let parts = Layout::TWITTER.unpack(ids(&run)[0]).unwrap();
    assert_eq!(run.lines().len(), 1);
    assert_eq!((parts.node, parts.datacenter, parts.worker), (569, Some(17), Some(25)));
    assert!((before..=now_ms()).contains(&parts.unix_ms));
}

#[test]
fn many_are_strictly_increasing_and_at_most_4096_per_millisecond() {
    let run = run(&["next", "-n", "200000", "--node", "7"]).quiet();
    let ids = ids(&run);
    assert_eq!(ids.len(), 200_000);
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    let mut in_tick: HashMap<u64, u32> = HashMap::new();
    for id in ids {
        let parts = Layout::TWITTER.unpack(id).unwrap();
        assert_eq!(parts.node, 7);
        *in_tick.entry(parts.tick).or_default() += 1;
    }
    assert!(in_tick.values().all(|count| *count <= 4096));
}

#[test]
fn runs_that_follow_each_other_do_not_repeat() {
    let mut last = Id::default();
    for _ in 0..20 {
        for id in ids(&run(&["next", "-n", "5000", "--node", "8"]).quiet()) {
            assert!(id > last);
            last = id;
        }
    }
}

#[test]
fn none() {
    for form in ["dec", "bytes", "json"] {
        assert_eq!(run(&["next", "-n", "0", "--node", "1", "--format", form]).quiet().text(), "");
    }
}

#[test]
fn every_form_holds_what_it_says() {
    for (name, form) in [
        ("dec", TextForm::Decimal),
        ("decimal", TextForm::Decimal),
        ("hex", TextForm::Hex),
        ("base32", TextForm::Base32),
        ("base36", TextForm::Base36),
        ("base58", TextForm::Base58),
        ("base62", TextForm::Base62),
        ("base58_flickr", TextForm::Base58Flickr),
        ("zbase32", TextForm::Zbase32),
    ] {
        let run = run(&["next", "-n", "9000", "--node", "3", "--format", name]).quiet();
        let ids: Vec<Id> = run.lines().iter().map(|line| form.decode(line).unwrap()).collect();
        assert_eq!(ids.len(), 9000);
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        assert!(run.text().ends_with('\n'));
    }
}

#[test]
fn bytes_are_big_endian_and_nothing_else() {
    let run = run(&["next", "-n", "5000", "--node", "1023", "--format", "bytes"]).quiet();
    assert_eq!(run.stdout.len(), 5000 * 8);
    let ids: Vec<Id> = run
        .stdout
        .chunks_exact(8)
        .map(|bytes| Id::from_be_bytes(bytes.try_into().unwrap()))
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(ids.iter().all(|id| Layout::TWITTER.unpack(*id).unwrap().node == 1023));
}

#[test]
fn json_is_what_inspect_says() {
    let made = run(&["next", "-n", "3", "--node", "5", "--format", "json"]).quiet();
    for (line, value) in made.lines().iter().zip(made.json()) {
        let id = value["id"].as_str().unwrap();
        assert_eq!(run(&["inspect", "--json", id]).quiet().text().trim_end(), *line);
    }
}

#[test]
fn the_node_comes_from_flags_else_from_the_environment() {
    let node = |run: Run| Layout::TWITTER.unpack(ids(&run.quiet())[0]).unwrap().node;
    assert_eq!(node(run(&["next", "--datacenter", "17", "--worker", "25"])), 569);
    assert_eq!(node(run_with(&[("FLAKEID_NODE", "9")], &["next"])), 9);
    let split = [("FLAKEID_DATACENTER", "17"), ("FLAKEID_WORKER", "25")];
    assert_eq!(node(run_with(&split, &["next"])), 569);
    assert_eq!(node(run_with(&split, &["next", "--node", "3"])), 3);
    let both = [("FLAKEID_NODE", "1"), ("FLAKEID_WORKER", "2")];
    assert_eq!(node(run_with(&both, &["next", "--datacenter", "0", "--worker", "4"])), 4);
}

#[test]
fn the_layout_comes_from_the_flag_else_from_the_environment() {
    let custom = "t42.n8.s13@1420070400000/5ms";
    let layout: Layout = custom.parse().unwrap();
    let from_flag = run(&["next", "--layout", custom, "--node", "255"]).quiet();
    assert_eq!(layout.unpack(ids(&from_flag)[0]).unwrap().node, 255);
    let same = "t42.n8.s13@2015-01-01T00:00:00Z/5ms";
    let from_environment = run_with(&[("FLAKEID_LAYOUT", same)], &["next", "--node", "255"]);
    assert_eq!(layout.unpack(ids(&from_environment.quiet())[0]).unwrap().node, 255);
    let flag_wins =
        run_with(&[("FLAKEID_LAYOUT", "nope")], &["next", "--layout", custom, "--node", "2"]);
    assert_eq!(layout.unpack(ids(&flag_wins.quiet())[0]).unwrap().node, 2);
}

#[test]
fn a_layout_without_a_node_needs_none() {
    let run = run(&["next", "-n", "3", "--layout", "t41.s22@1288834974657/1ms"]).quiet();
    assert_eq!(run.lines().len(), 3);
}

#[test]
fn every_preset_that_has_not_ended_makes_ids() {
    for (name, layout) in Layout::presets() {
        if *name == "baidu" {
            continue;
        }
        let node = layout.max_node().min(33);
        let run =
            run(&["next", "-n", "600", "--layout", name, "--node", &node.to_string()]).quiet();
        let ids = ids(&run);
        assert_eq!(ids.len(), 600);
        assert!(ids.iter().all(|id| layout.unpack(*id).unwrap().node == node), "{name}");
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    }
}

#[test]
fn the_sequence_can_start_at_random() {
    let starts = |bits: &str| -> Vec<u64> {
        let args = ["next", "-n", "60000", "--node", "6", "--sequence-start", bits];
        let ids = ids(&run(&args).quiet());
        let parts = ids.iter().map(|id| Layout::TWITTER.unpack(*id).unwrap());
        let mut first_of_tick: Vec<_> = parts.collect();
        first_of_tick.dedup_by_key(|parts| parts.tick);
        first_of_tick.iter().map(|parts| parts.sequence).collect()
    };
    let random = starts("11");
    assert!(random.iter().all(|start| *start < 2048), "{random:?}");
    // A dozen zeros in a row, of 2048 possible numbers each, do not happen.
    assert!(random.len() > 12 && random.iter().any(|start| *start != 0), "{random:?}");
    assert!(starts("0").iter().all(|start| *start == 0));
    // The very first ID of a process too, or a command that makes one at a time gains nothing.
    let first = || {
        let ids = ids(&run(&["next", "--node", "6", "--sequence-start", "11"]).quiet());
        Layout::TWITTER.unpack(ids[0]).unwrap().sequence
    };
    assert!((0..12).any(|_| first() != 0));
}

#[test]
fn a_closed_pipe_is_no_error() {
    for form in ["dec", "bytes", "json"] {
        let mut child = flakeid()
            .args(["next", "-n", "1000000000", "--node", "1", "--format", form])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 100]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    }
}

#[test]
fn a_slow_layout_does_not_keep_back_what_it_has_made() {
    // One ID per second and node; the first two are there long before all sixty are.
    let mut child = flakeid()
        .args(["next", "-n", "60", "--node", "1", "--layout", "t32.n10@1577836800000/1s"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let mut first = [0; 20];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(10));
    child.kill().unwrap();
    child.wait().unwrap();
}
