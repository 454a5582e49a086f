//! Tests of error messages. A command must report an invalid argument in exactly one message with
//! an error code, and must not write to standard output.

use crate::run::{Run, run, run_on, run_with};

#[track_caller]
pub(crate) fn refused(run: &Run, code: &str, parts: &[&str]) {
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(run.text(), "");
    let mut lines = run.stderr.lines();
    let first = lines.next().unwrap_or_default();
    assert!(first.starts_with(&format!("flakeid: {code}: ")), "{first}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part:?} is not in {}", run.stderr);
    }
    let rest: Vec<&str> = lines.collect();
    assert!(rest.len() <= 1 && rest.iter().all(|line| line.starts_with("hint: ")), "{rest:?}");
    assert!(!run.stderr.contains('\u{1b}'), "no colour outside a terminal");
}

#[test]
fn flakeid_next_rejects_numbers_out_of_range() {
    for (args, part) in [
        (&["--node", "1024"] as &[&str], "node 1024 is out of range: must be from 0 to 1023"),
        (&["--node", "-1"], "node -1 is out of range: must be from 0 to 1023"),
        (&["--node=-1"], "node -1 is out of range: must be from 0 to 1023"),
        (&["--node", "18446744073709551616"], "node 18446744073709551616 is out of range"),
        (&["--node", "abc"], "node \"abc\" is out of range: must be from 0 to 1023"),
        (&["--node", ""], "node \"\" is out of range: must be from 0 to 1023"),
        (&["--node", "1.5"], "node \"1.5\" is out of range"),
        (&["--node", "+1"], "node \"+1\" is out of range"),
        (
            &["--datacenter", "32", "--worker", "0"],
            "datacenter 32 is out of range: must be from 0 to 31",
        ),
        (
            &["--datacenter", "0", "--worker", "40"],
            "worker 40 is out of range: must be from 0 to 31",
        ),
        (
            &["--datacenter", "-1", "--worker", "0"],
            "datacenter -1 is out of range: must be from 0 to 31",
        ),
        (
            &["--datacenter", "0", "--worker", ""],
            "worker \"\" is out of range: must be from 0 to 31",
        ),
        (
            &["--node", "8192", "--layout", "instagram"],
            "node 8192 is out of range: must be from 0 to 8191",
        ),
        (
            &["--node", "1", "--layout", "t41.s12@0/1ms"],
            "node 1 is out of range: must be from 0 to 0",
        ),
        (
            &["--node", "1", "-n", "-1"],
            "count -1 is out of range: must be from 0 to 18446744073709551615",
        ),
        (&["--node", "1", "-n", "ten"], "count \"ten\" is out of range"),
        (
            &["--node", "1", "-n", "18446744073709551616"],
            "count 18446744073709551616 is out of range",
        ),
        (
            &["--node", "1", "--sequence-start", "13"],
            "--sequence-start 13 is out of range: must be from 0 to 12",
        ),
        (&["--node", "1", "--sequence-start", "-1"], "--sequence-start -1 is out of range"),
        (&["--node", "1024", "-n", "0"], "node 1024 is out of range"),
    ] {
        refused(&run(&[&["next"], args].concat()), "FLAKEID_FIELD_OUT_OF_RANGE", &[part]);
    }
}

/// An environment variable makes the command behave as if it ran in a container, regardless of
/// where the test itself runs.
#[test]
fn commands_in_containers_require_a_store_or_a_node() {
    let container = [("KUBERNETES_SERVICE_HOST", "10.0.0.1")];
    let code = "FLAKEID_INVALID_OPTION";
    let ways = ["a file on a volume (sqlite:///", "the URL of a server", "a fixed node"];
    for args in [&["next"] as &[&str], &["next", "-n", "5", "--name", "import"]] {
        let run = run_with(&container, args);
        refused(&run, code, &ways);
        refused(&run, code, &["hint: give --store URL or --node N, or set FLAKEID_STORE=URL or"]);
    }
    for args in [&["leases", "ls"] as &[&str], &["leases", "watch"], &["whois", "1"]] {
        let run = run_with(&container, args);
        refused(&run, code, &ways);
        refused(&run, code, &["hint: give --store URL, or set FLAKEID_STORE=URL\n"]);
    }
    for args in [&["next", "--node", "1"] as &[&str], &["next", "--layout", "t41.s22@0/1ms"]] {
        run_with(&container, args).quiet();
    }
}

#[test]
fn flakeid_next_rejects_conflicting_and_incomplete_node_options() {
    let code = "FLAKEID_INVALID_OPTION";
    let both = run(&["next", "--node", "1", "--datacenter", "0", "--worker", "1"]);
    refused(&both, code, &["give either --node or --datacenter with --worker, not both"]);
    refused(&run(&["next", "--node", "1", "--worker", "1"]), code, &["not both"]);
    refused(&run(&["next", "--datacenter", "1"]), code, &["--datacenter requires --worker"]);
    refused(&run(&["next", "--worker", "1"]), code, &["--worker requires --datacenter"]);
    let unsplit = run(&["next", "--layout", "plain", "--datacenter", "1", "--worker", "1"]);
    refused(&unsplit, code, &["does not split its node"]);
    let both = run_with(&[("FLAKEID_NODE", "1"), ("FLAKEID_WORKER", "1")], &["next"]);
    refused(&both, code, &["either FLAKEID_NODE or FLAKEID_DATACENTER with FLAKEID_WORKER"]);
    let half = run_with(&[("FLAKEID_WORKER", "1")], &["next", "--datacenter", "1"]);
    refused(&half, code, &["--datacenter requires --worker, which is not on the command line"]);
}

#[test]
fn invalid_environment_variables_are_reported_with_their_names() {
    let code = "FLAKEID_FIELD_OUT_OF_RANGE";
    for value in ["1024", "", "-1", "abc"] {
        let node = run_with(&[("FLAKEID_NODE", value)], &["next"]);
        refused(&node, code, &["must be from 0 to 1023", "variable FLAKEID_NODE"]);
    }
    let worker = [("FLAKEID_DATACENTER", "1"), ("FLAKEID_WORKER", "40")];
    refused(
        &run_with(&worker, &["next"]),
        code,
        &["worker 40 is out of range: must be from 0 to 31", "variable FLAKEID_WORKER"],
    );
    for value in ["nope", ""] {
        let layout = run_with(&[("FLAKEID_LAYOUT", value)], &["inspect", "1"]);
        refused(
            &layout,
            "FLAKEID_INVALID_LAYOUT",
            &["neither a preset", "variable FLAKEID_LAYOUT"],
        );
    }
}

#[test]
fn invalid_layouts_are_rejected_by_every_command() {
    for (layout, part) in [
        ("t50.n10.s12@0/1ms", "must sum to at most 64 bits, not 72"),
        ("n10.t41.s12@0/1ms", "the time field (t) must come first"),
        ("t41.n10.s12@0/0ms", "the unit must be at least 1 ms"),
        ("t41.n10.s12@0/0s", "the unit must be at least 1 ms"),
        ("t41.n10.s12@-1/1ms", "the epoch must be"),
        ("t41.d5.s12@0/1ms", "require each other"),
        ("t0.n10.s12@0/1ms", "width must be from 1 to 64"),
        ("twiter", "neither a preset (twitter"),
        ("", "neither a preset"),
    ] {
        for args in [
            &["next", "--node", "1", "--layout", layout] as &[&str],
            &["inspect", "1", "--layout", layout],
            &["bounds", "--from", "2026-01-01", "--layout", layout],
            &["layout", layout],
            &["layout", layout, "--json"],
        ] {
            refused(&run(args), "FLAKEID_INVALID_LAYOUT", &[&format!("layout {layout:?}"), part]);
        }
    }
    let decodes_only = run(&["next", "--layout", "t52.s12@0/1ms"]);
    refused(&decodes_only, "FLAKEID_INVALID_LAYOUT", &["not generate them", "not 64"]);
}

#[test]
fn invalid_ids_are_rejected_with_a_reason() {
    let code = "FLAKEID_INVALID_ID";
    let most = "18446744073709551615";
    for (id, part) in [
        ("abc", "\"abc\" is not an ID in decimal: 'a' is not a valid digit"),
        ("18446744073709551616", "larger than the largest 64-bit ID"),
        ("-5", "\"-5\" is not an ID in decimal"),
        ("", "\"\" is not an ID in decimal: the string is empty"),
        ("+5", "not an ID in decimal"),
        (" 5", "not an ID in decimal"),
    ] {
        refused(&run(&["inspect", id]), code, &[part, most]);
        refused(&run(&["inspect", id, "--json"]), code, &[part, most]);
        refused(&run(&["inspect", "--pretty", id]), code, &[part, most]);
    }
    let signed = "from a signed 64-bit column, the ID is 18446744073709551611";
    refused(&run(&["inspect", "-5"]), code, &[signed]);
    for (id, part) in [
        ("0x", "the string is empty"),
        ("0xzz", "'z' is not a valid digit"),
        ("0x10000000000000000", "from 0 to 18446744073709551615"),
        ("0x-1", "'-' is not a valid digit"),
    ] {
        refused(&run(&["inspect", id]), code, &[part]);
    }
    let stray =
        "is not an ID of the layout t41.d5.w5.s12@1288834974657/1ms: it has bits set outside";
    refused(&run(&["inspect", most]), code, &[stray, "--layout"]);
    refused(&run(&["inspect", "--format", "base62", "15G63YLn9A"]), code, &["exactly 11 digits"]);
    refused(
        &run(&["inspect", "abc"]),
        code,
        &[
            "a valid ID in several forms (base36, base58, base58_flickr and zbase32): select one form",
        ],
    );
    refused(
        &run(&["inspect", "0ca2be895c239000"]),
        code,
        &["the string is a valid ID in hex: add --format hex"],
    );
    refused(
        &run(&["inspect", "37amtpPtjf5"]),
        code,
        &[
            "a valid ID in several forms (base36, base58, base62, base58_flickr and zbase32): select",
        ],
    );
}

#[test]
fn other_identifiers_are_rejected_with_a_description() {
    for (text, parts) in [
        (
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            [
                "has version 7, but an ID requires version 8",
                "a UUID of version 7, created at 2022-02-22T19:22:22.000Z",
            ],
        ),
        (
            "919108f7-52d1-4320-9bac-f847db4148a8",
            [
                "is not an ID in uuid",
                "the string is a UUID of version 4, which contains random bits",
            ],
        ),
        (
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            ["is not an ID in decimal", "a ULID, created at 2016-07-30T23:54:10.259Z"],
        ),
        (
            "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
            ["is not an ID in decimal", "a KSUID, created at 2017-10-10T04:00:47Z"],
        ),
    ] {
        refused(&run(&["inspect", text]), "FLAKEID_INVALID_ID", &parts);
    }
}

#[test]
fn one_invalid_id_argument_prevents_all_output() {
    let code = "FLAKEID_INVALID_ID";
    refused(&run(&["inspect", "1", "2", "x", "3"]), code, &["\"x\""]);
    refused(&run(&["inspect", "1", "2", "18446744073709551615"]), code, &["bits set outside"]);
}

#[test]
fn invalid_input_line_is_reported_with_its_line_number() {
    for (input, line) in
        [("1\nx\n3\n", 2), ("1\n\n3\n", 2), ("x", 1), ("1\n2\n18446744073709551615\n", 3)]
    {
        let run = run_on(input.as_bytes(), &["inspect"]);
        assert_eq!(run.code, Some(1));
        assert_eq!(run.lines().len(), line - 1, "the results of the earlier lines are shown");
        assert!(run.stderr.starts_with("flakeid: FLAKEID_INVALID_ID: "), "{}", run.stderr);
        let hint = format!("hint: the error is on line {line} of standard input");
        assert!(run.stderr.contains(&hint), "{}", run.stderr);
    }
    for endless in [vec![b'7'; 1 << 20], vec![b' '; 1 << 20], vec![0xff; 5000]] {
        let run = run_on(&endless, &["inspect"]);
        assert_eq!((run.code, run.text()), (Some(1), ""));
        assert!(run.stderr.len() < 600, "{}", run.stderr);
    }
}

#[test]
fn flakeid_next_fails_before_the_epoch_and_after_the_horizon() {
    let over = run(&["next", "--layout", "baidu", "--node", "1"]);
    refused(&over, "FLAKEID_HORIZON_REACHED", &["ran out at 2024-11-20T13:24:16Z"]);
    let early = run(&["next", "--layout", "t41.s12@9999-01-01T00:00:00Z/1ms"]);
    refused(&early, "FLAKEID_BEFORE_EPOCH", &["before the layout's epoch"]);
}

#[test]
fn bounds_command_requires_valid_times_in_the_right_order() {
    let code = "FLAKEID_INVALID_OPTION";
    refused(&run(&["bounds"]), code, &["--from, --to: give at least one"]);
    refused(
        &run(&["bounds", "--from", "2026-02-01", "--to", "2026-01-31"]),
        code,
        &["--from: 2026-02-01T00:00:00Z is after --to 2026-01-31T00:00:00Z"],
    );
    for text in ["yesterday", "", "2026-13-01", "2026-01-01T00:00:00", "--json"] {
        let quoted = format!("{text:?} is not a time");
        refused(&run(&["bounds", "--from", text]), code, &["--from: ", &quoted]);
        refused(&run(&["bounds", "--to", text]), code, &["--to: ", &quoted]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn failed_write_is_reported_with_its_destination() {
    for args in [
        &["next", "-n", "100000", "--node", "1"] as &[&str],
        &["inspect", "1"],
        &["inspect", "--pretty", "1"],
        &["layout"],
        &["man"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run =
            crate::run::finish(crate::run::flakeid().args(args).stdout(full).output().unwrap());
        assert_eq!(run.code, Some(1), "{args:?}");
        assert!(run.stderr.starts_with("flakeid: error: cannot write to standard output: "));
    }
    let run = run(&["man", "/dev/null/pages"]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(run.stderr.starts_with("flakeid: error: cannot write the manual to /dev/null/pages: "));
}

#[test]
fn invalid_arguments_cause_exit_status_two() {
    for args in [
        &[] as &[&str],
        &["nonsense"],
        &["next", "--format", "roman"],
        &["inspect", "--json", "--pretty", "1"],
        &["completions", "tcsh"],
        &["layout", "plan"],
        &["inspect", "--no-such-flag"],
        &["--color", "sometimes", "layout"],
    ] {
        let run = run(args);
        assert_eq!((run.code, run.text()), (Some(2), ""), "{args:?}");
        assert!(run.stderr.contains("Usage:") || run.stderr.contains("--help"), "{}", run.stderr);
    }
}

#[test]
fn init_refuses_windows_with_which_old_data_would_go_unnoticed() {
    let init = ["leases", "init", "--fresh", "--max-window", "1h", "--store"];
    let nowhere = "kubernetes://default/ids?kubeconfig=/nowhere";
    for url in ["s3://bucket/ids?region=eu-central-1", nowhere] {
        let run = run(&[&init[..], &[url]].concat());
        refused(
            &run,
            "FLAKEID_INVALID_OPTION",
            &["--max-window", "at most 5 min", "--long-windows"],
        );
    }
    let allowed = run(&[&init[..], &[nowhere, "--long-windows"]].concat());
    assert!(allowed.stderr.contains("/nowhere cannot be read"), "{}", allowed.stderr);
}
