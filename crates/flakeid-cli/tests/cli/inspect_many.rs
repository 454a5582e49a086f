//! Tests of `flakeid inspect --guess` and `--stats`, which report the likely preset of many IDs and
//! statistics about the IDs.

use crate::run::{Run, run, run_on};

/// Checks that a command failed, and returns its error output.
fn refused(run: &Run) -> &str {
    assert_ne!(run.code, Some(0), "{}", run.text());
    &run.stderr
}

/// Runs a command with the given standard input.
fn with(args: &[&str], input: &str) -> Run {
    run_on(input.as_bytes(), args)
}

#[test]
fn guess_option_ranks_presets_and_explains_mismatches() {
    let tweet = "1050118621198921728";
    let run_of = |more: &[&str]| run(&[&["inspect", "--guess", tweet], more].concat()).quiet();
    let presets = run_of(&[]).json();
    assert_eq!(presets.len(), 13, "one line for every preset");
    assert_eq!((&presets[0]["layout"], &presets[0]["likely"]), (&"twitter".into(), &true.into()));
    assert_eq!(presets[0]["first"], "2018-10-10T20:19:24.211Z");
    // The `weakness` of an unlikely preset is the field that is the strongest evidence against the
    // preset.
    let weakness =
        |name| presets.iter().find(|it| it["layout"] == name).unwrap()["weakness"].clone();
    assert_eq!(weakness("discord"), "node");
    assert_eq!((weakness("twitter"), weakness("sonyflake")), (().into(), ().into()));
    let sonyflake = presets.iter().find(|preset| preset["layout"] == "sonyflake").unwrap();
    let reason = sonyflake["reason"].as_str().unwrap();
    assert!(reason.ends_with("in the future"), "{reason}");
    let drawn = run_of(&["--pretty"]);
    assert!(drawn.text().starts_with("This ID could be from twitter.\n"), "{}", drawn.text());
    assert!(drawn.text().contains("  not sonyflake: 1050118621198921728 would be from 2034-"));
    for part in [" unlikely: 2^", " times less likely, mainly because of the node\n"] {
        assert!(drawn.text().contains(part), "{part}: {}", drawn.text());
    }
}

#[test]
fn guess_is_ambiguous_for_one_id_but_not_for_ten() {
    // The ID is from one of the first Discord servers, but it could also be the ID of a tweet.
    let drawn = run(&["inspect", "--guess", "--pretty", "41771983423143937"]).quiet();
    assert!(drawn.text().contains(" or "), "{}", drawn.text());
    assert!(
        drawn.text().contains("give more IDs from the same system to tell which"),
        "{}",
        drawn.text()
    );
    let ids = run(&["next", "-n", "10", "--node", "7", "--layout", "sonyflake"]).quiet();
    let presets = with(&["inspect", "--guess"], ids.text()).quiet().json();
    assert_eq!(presets[0]["layout"], "sonyflake");
    assert!(presets[1..].iter().all(|preset| preset["likely"] == false), "{presets:?}");
}

#[test]
fn guess_option_reports_no_presets_without_ids() {
    assert_eq!(with(&["inspect", "--guess", "--pretty"], "").quiet().text(), "No IDs.\n");
    assert_eq!(with(&["inspect", "--guess"], "").quiet().text(), "");
}

#[test]
fn guess_option_conflicts_with_layout_option() {
    let run_both = run(&["inspect", "--guess", "--layout", "twitter", "1"]);
    assert!(refused(&run_both).contains("--layout"), "{}", run_both.stderr);
    let run_none = run(&["inspect", "--guess", "x"]);
    assert!(refused(&run_none).contains("FLAKEID_INVALID_ID"), "{}", run_none.stderr);
}

#[test]
fn stats_report_no_repeats_for_ids_in_increasing_order() {
    let ids = run(&["next", "-n", "20000", "--node", "7"]).quiet();
    let stats = with(&["inspect", "--stats"], ids.text()).quiet().json().remove(0);
    assert_eq!((&stats["count"], &stats["repeats"]), (&20_000.into(), &0.into()));
    assert_eq!((&stats["steps_back"], &stats["layout"]), (&0.into(), &"twitter".into()));
    assert_eq!(stats["nodes"], serde_json::json!([[7, 20_000]]));
    let of_periods = stats["periods"].as_array().unwrap().iter().map(|it| it[1].as_u64().unwrap());
    assert_eq!(of_periods.sum::<u64>(), 20_000);
    let lines: Vec<&str> = ids.text().lines().collect();
    assert_eq!((&stats["first"], &stats["last"]), (&lines[0].into(), &lines[19_999].into()));
}

#[test]
fn stats_count_repeats_and_backward_steps_across_mixed_formats() {
    // The lines have different formats: Windows line endings, spaces, hexadecimal digits, and a
    // last line without a line ending.
    let text = "910499571847892992\r\n 910499571847892993\n0x0ca2be895c239000\n910499571847892992";
    let stats = with(&["inspect", "--stats"], text).quiet().json().remove(0);
    assert_eq!((&stats["count"], &stats["repeats"]), (&4.into(), &2.into()));
    assert_eq!((&stats["steps_back"], &stats["longest_step_back_ms"]), (&1.into(), &0.into()));
    let given = ["inspect", "--stats", "--pretty", "910499571847892992", "910499575847892992"];
    let drawn = run(&given).quiet();
    for part in ["2 IDs of layout twitter", "longest gap   95", "repeats       none", "█"] {
        assert!(drawn.text().contains(part), "{part}: {}", drawn.text());
    }
    assert_eq!(with(&["inspect", "--stats", "--pretty"], "").quiet().text(), "No IDs.\n");
}

/// The layout has more nodes than the statistics can distinguish.
#[test]
fn stats_count_ids_from_nodes_that_are_not_listed_separately() {
    let ids: Vec<String> = (0..70_000_u64).map(|node| (1 << 35 | node << 13).to_string()).collect();
    let given = ["inspect", "--stats", "--pretty", "--layout", "baidu"];
    let drawn = with(&given, &ids.join("\n")).quiet();
    for part in [
        "\nat least 65,536 nodes\n",
        "  and 65,526 more\n",
        "  4,464 IDs come from other nodes, which are not listed separately\n",
    ] {
        assert!(drawn.text().contains(part), "{part}: {}", drawn.text());
    }
}

#[test]
fn stats_report_the_line_of_an_invalid_id() {
    let long = "1".repeat(600_000);
    for (text, part) in [
        ("1\n2\nx\n", "line 3 of standard input"),
        ("1\n\n", "line 2 of standard input"),
        ("9223372036854775808\n", "line 1 of standard input"),
        (&long, "line 1 of standard input"),
        (&format!("1\n{long}\n2\n"), "line 2 of standard input"),
        (&format!("1{}x", " ".repeat(1 << 19)), "line 1 of standard input"),
    ] {
        let run = with(&["inspect", "--stats"], text);
        let errors = refused(&run);
        assert!(errors.contains(part) && errors.contains("FLAKEID_"), "{errors}");
        assert!(errors.len() < 1_000, "{errors}");
    }
}
