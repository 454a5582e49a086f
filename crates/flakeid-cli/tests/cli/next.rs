use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_core::{Id, Layout, TextForm};

use crate::run::{Run, run, run_and_close, run_with, start};

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn ids(run: &Run) -> Vec<Id> {
    run.lines().iter().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn generated_id_contains_the_node_and_the_current_time() {
    let before = now_ms();
    let run = run(&["next", "--node", "569"]).quiet();
    let parts = Layout::TWITTER.unpack(ids(&run)[0]).unwrap();
    assert_eq!(run.lines().len(), 1);
    assert_eq!((parts.node, parts.datacenter, parts.worker), (569, Some(17), Some(25)));
    assert!((before..=now_ms()).contains(&parts.unix_ms));
}

#[test]
fn flakeid_next_generates_increasing_ids_within_tick_capacity() {
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
fn consecutive_runs_on_a_fixed_node_never_repeat_ids() {
    let mut last = Id::default();
    for _ in 0..20 {
        for id in ids(&run(&["next", "-n", "5000", "--node", "8"]).quiet()) {
            assert!(id > last);
            last = id;
        }
    }
}

#[test]
fn flakeid_next_with_count_zero_writes_nothing() {
    for form in ["dec", "bytes", "json"] {
        assert_eq!(run(&["next", "-n", "0", "--node", "1", "--format", form]).quiet().text(), "");
    }
}

#[test]
fn flakeid_next_writes_ids_in_every_text_form() {
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
        ("uuid", TextForm::Uuid),
    ] {
        let run = run(&["next", "-n", "9000", "--node", "3", "--format", name]).quiet();
        let ids: Vec<Id> = run.lines().iter().map(|line| form.decode(line).unwrap()).collect();
        assert_eq!(ids.len(), 9000);
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        assert!(run.text().ends_with('\n'));
    }
}

#[test]
fn bytes_format_writes_big_endian_ids_without_separators() {
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
fn flakeid_next_prints_the_same_json_as_the_inspect_command() {
    let generated = run(&["next", "-n", "3", "--node", "5", "--format", "json"]).quiet();
    for (line, value) in generated.lines().iter().zip(generated.json()) {
        let id = value["id"].as_str().unwrap();
        assert_eq!(run(&["inspect", "--json", id]).quiet().text().trim_end(), *line);
    }
}

#[test]
fn node_flags_take_precedence_over_the_environment() {
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
fn layout_flag_takes_precedence_over_the_environment() {
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
fn layout_without_a_node_field_requires_no_node() {
    let run = run(&["next", "-n", "3", "--layout", "t41.s22@1288834974657/1ms"]).quiet();
    assert_eq!(run.lines().len(), 3);
}

#[test]
fn flakeid_next_generates_ids_with_every_unexpired_layout_preset() {
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
fn sequence_start_option_randomises_the_first_id_of_each_tick() {
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
    // A dozen random numbers below 2048 are practically never all zero.
    assert!(random.len() > 12 && random.iter().any(|start| *start != 0), "{random:?}");
    assert!(starts("0").iter().all(|start| *start == 0));
    // The sequence number of a process's first ID is also random. Otherwise, commands that generate
    // only one ID each would always use the sequence number 0.
    let first = || {
        let ids = ids(&run(&["next", "--node", "6", "--sequence-start", "11"]).quiet());
        Layout::TWITTER.unpack(ids[0]).unwrap().sequence
    };
    assert!((0..12).any(|_| first() != 0));
}

#[test]
fn flakeid_next_succeeds_when_its_pipe_closes_early() {
    for form in ["dec", "bytes", "json"] {
        let args = ["next", "-n", "1000000000", "--node", "1", "--format", form];
        run_and_close(&args, 100).quiet();
    }
}

#[test]
fn flakeid_next_writes_ids_without_waiting_for_later_ticks() {
    // With this layout, a node generates only one ID per second. The first IDs must therefore be
    // written long before all sixty IDs are generated.
    let mut child =
        start(&["next", "-n", "60", "--node", "1", "--layout", "t32.n10@1577836800000/1s"]);
    let begin = Instant::now();
    let mut first = [0; 20];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(10));
    child.kill().unwrap();
    child.wait().unwrap();
}
