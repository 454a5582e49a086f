use flakeid_core::Layout;
use serde_json::Value;

use crate::run::{Run, run};

fn plan(args: &[&str]) -> Run {
    run(&[&["layout", "plan", "--epoch", "2026-01-01"], args].concat())
}

const NEED: [&str; 6] = ["--nodes", "64", "--rate", "5000", "--until", "2095"];

#[test]
fn json_plan_proposes_layouts_that_meet_the_requirements() {
    let values = plan(&[&NEED[..], &["--json"]].concat()).quiet().json();
    assert!(values.len() >= 3, "{values:?}");
    for value in &values {
        let layout: Layout = value["descriptor"].as_str().unwrap().parse().unwrap();
        assert!(layout.max_node() >= 63);
        assert!(layout.ids_per_tick() * 1000 / layout.unit_ms() >= 5000);
        assert!(layout.horizon() >= 3_976_214_400_000, "2096-01-01: {value}");
        assert!(layout.width() <= 63);
        assert_eq!(value["bits"], layout.width());
        assert_eq!(value["nodes"], layout.max_node() + 1);
        assert_eq!(value["ids_per_second"], layout.ids_per_second());
        assert_eq!(value["longest_wait_ms"], layout.unit_ms());
        assert_eq!(value["signed_safe"], true);
        assert_eq!(value["js_safe"], layout.width() <= 53);
        let preset = value["proposal"].as_str().unwrap().strip_prefix("preset ");
        assert_eq!(layout.preset_name(), preset);
        assert!(preset.is_some() || layout.epoch() == 1_767_225_600_000);
    }
    let named = |name: &str| {
        let has = |value: &&Value| value["proposal"].as_str().unwrap().contains(name);
        values.iter().find(has).unwrap_or_else(|| panic!("{name}"))
    };
    assert_eq!(named("even headroom")["bits"], 63);
    assert_eq!(named("ms order")["unit_ms"], 1);
    assert_eq!(named("JavaScript-safe")["js_safe"], true);
    assert_eq!(named("large bursts")["unit_ms"], 1000);
    assert_eq!(named("preset sonyflake")["unit_ms"], 10);
    let fewest = values.iter().map(|value| value["bits"].as_u64().unwrap()).min().unwrap();
    assert_eq!(named("fewest bits")["bits"], fewest);
}

#[test]
fn layout_plan_prints_a_table_with_a_legend() {
    let run = plan(&NEED).quiet();
    let lines = run.lines();
    assert_eq!(
        lines[0],
        "64 nodes, 5,000 IDs/s each, from 2026-01-01 until 2096-01-01, in at most 63 bits"
    );
    assert!(lines[2].starts_with("proposal "), "{}", lines[2]);
    assert_eq!(lines[4].trim(), lines[4].trim().parse::<Layout>().unwrap().to_string());
    assert!(lines.iter().all(|line| line.len() <= 88), "{}", run.text());
    assert!(run.text().ends_with("JS    exact as a JavaScript number (at most 53 bits)\n"));
}

#[test]
fn layout_plan_lists_the_presets_that_end_too_early() {
    let early = "Presets that are omitted because they end before 2081-01-01:\n  preset twitter ends on 2080-07-10\n";
    let need = ["--nodes", "64", "--rate", "5000", "--until"];
    let text = plan(&[&need[..], &["2080"]].concat()).quiet().text().to_owned();
    assert!(text.contains(early) && !text.contains("preset twitter  "), "{text}");
    let text = plan(&[&need[..], &["2079"]].concat()).quiet().text().to_owned();
    assert!(text.contains("preset twitter  ") && !text.contains("preset twitter ends"), "{text}");
}

#[test]
fn epoch_of_a_planned_layout_defaults_to_today() {
    let run = run(&[&["layout", "plan", "--json"], &NEED[..]].concat()).quiet();
    let layout: Layout = run.json()[0]["descriptor"].as_str().unwrap().parse().unwrap();
    assert_eq!(layout.epoch() % 86_400_000, 0);
    let age = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis()
        .saturating_sub(layout.epoch().unsigned_abs().into());
    assert!(age < 2 * 86_400_000);
}

/// Checks that each value in the hint meets the requirements, and that the next larger value does
/// not.
#[test]
fn unmet_requirements_error_suggests_the_largest_possible_values() {
    let need = |nodes: u64, rate: u64| {
        let (nodes, rate) = (nodes.to_string(), rate.to_string());
        plan(&["--nodes", &nodes, "--rate", &rate, "--until", "2060", "--bits", "60"])
    };
    let run = need(1_000_000, 200_000);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(
        run.stderr.starts_with(
            "flakeid: FLAKEID_INVALID_OPTION: plan: no layout with 60 bits allows 1000000 nodes to generate \
             200000 IDs/s each from 2026-01-01 until 2061-01-01: that requires "
        ),
        "{}",
        run.stderr
    );
    let number = |option: &str| -> u64 {
        let rest = run.stderr.split(option).nth(1).unwrap_or_else(|| panic!("{}", run.stderr));
        rest.trim_start_matches(" to ")
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    let (nodes, rate) = (number("--nodes"), number("--rate"));
    assert_eq!((need(nodes, 200_000).code, need(nodes + 1, 200_000).code), (Some(0), Some(1)));
    assert_eq!((need(1_000_000, rate).code, need(1_000_000, rate + 1).code), (Some(0), Some(1)));
}

#[test]
fn unmet_requirements_error_suggests_a_sufficient_number_of_bits() {
    let need = ["--nodes", "1024", "--rate", "1000000", "--until", "2085"];
    let run = plan(&[&need[..], &["--bits", "55"]].concat());
    assert!(run.stderr.contains("raise --bits to "), "{}", run.stderr);
    let bits: String = run
        .stderr
        .split("raise --bits to ")
        .nth(1)
        .unwrap()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    plan(&[&need[..], &["--bits", &bits]].concat()).quiet();
}

#[test]
fn impossible_requirements_error_suggests_several_changes() {
    let run = plan(&["--nodes", "1000000000", "--rate", "4000000000", "--until", "9999"]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(run.stderr.contains("hint: lower at least two of the options"), "{}", run.stderr);
}

#[test]
fn layout_plan_rejects_invalid_requirements() {
    const OPTION: &str = "FLAKEID_INVALID_OPTION";
    const RANGE: &str = "FLAKEID_FIELD_OUT_OF_RANGE";
    for (args, code, part) in [
        (["0", "1", "2095"], RANGE, "nodes 0 is out of range: must be from 1"),
        (["-1", "1", "2095"], RANGE, "nodes -1 is out of range"),
        (["1", "0", "2095"], RANGE, "rate 0 is out of range: must be from 1"),
        (["1", "many", "2095"], RANGE, "rate \"many\" is out of range"),
        (["1", "1", "2020"], OPTION, "--until: 2020 ends before the epoch"),
        (["1", "1", "soon"], OPTION, "--until: \"soon\" is not a time"),
    ] {
        let [nodes, rate, until] = args;
        let run = plan(&["--nodes", nodes, "--rate", rate, "--until", until]);
        assert_eq!((run.code, run.text()), (Some(1), ""), "{args:?}");
        assert!(run.stderr.starts_with(&format!("flakeid: {code}: {part}")), "{}", run.stderr);
    }
    let bits = plan(&[&NEED[..], &["--bits", "65"]].concat());
    assert!(bits.stderr.contains("bits 65 is out of range: must be from 1 to 64"));
    let epoch = run(&[&["layout", "plan", "--epoch", "1969-01-01"], &NEED[..]].concat());
    assert!(epoch.stderr.starts_with("flakeid: FLAKEID_INVALID_LAYOUT: "), "{}", epoch.stderr);
}

fn fleet(args: &[&str]) -> Run {
    plan(&[&["--rate", "1000", "--until", "2080"], args].concat())
}

#[test]
fn fleet_plan_json_lists_proposals_before_fleet_sizes() {
    let values = fleet(&["--processes", "1000000", "--json"]).quiet().json();
    let (proposals, sizes): (Vec<_>, Vec<_>) =
        values.iter().partition(|value| !value["proposal"].is_null());
    for proposal in &proposals {
        let layout: Layout = proposal["descriptor"].as_str().unwrap().parse().unwrap();
        assert!(layout.max_node() + 1 >= 1_016_667, "{proposal}");
        assert_eq!(proposal["fleet_ids_per_second"], layout.ids_per_second() * 1e6);
    }
    let column = |key: &str| sizes.iter().map(|size| &size[key]).collect::<Vec<_>>();
    assert_eq!(column("processes"), [10, 100, 1000, 10_000, 100_000, 1_000_000]);
    assert_eq!(column("nodes_needed"), [11, 102, 1017, 10_167, 101_667, 1_016_667]);
    assert_eq!(column("node_bits"), [4, 7, 10, 14, 17, 20]);
    assert_eq!(column("ids_per_second"), [1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
    assert_eq!(column("renewals_per_second"), [3.0, 30.0, 300.0, 3e3, 3e4, 3e5]);
    assert_eq!(column("asked_per_second_after_restart"), [5.0, 50.0, 500.0, 5e3, 5e4, 5e5]);
    for size in &sizes {
        let presets = Layout::presets().iter().filter(|(_, layout)| {
            layout.max_node() + 1 >= size["nodes_needed"].as_u64().unwrap()
                && layout.width() <= 63
                && layout.horizon() >= 3_502_828_800_000
                && layout.ids_per_second() >= 1000.0
        });
        let presets: Vec<_> = presets.map(|(name, _)| *name).collect();
        assert_eq!(size["presets"], serde_json::json!(presets), "{size}");
        for store in size["stores"].as_array().unwrap() {
            let used = store["use_percent"].as_f64().unwrap();
            assert_eq!(store["suffices"], used <= 50.0, "{size}");
        }
    }
    let crowded = |size: &Value, name: &str| {
        let stores = size["stores"].as_array().unwrap().iter();
        let mut stores = stores.filter(|store| store["store"] == name);
        stores.next().unwrap()["more_connections_than_default"].as_bool().unwrap()
    };
    assert!(!crowded(sizes[1], "postgres") && crowded(sizes[2], "postgres"));
    assert!(!crowded(sizes[3], "redis") && crowded(sizes[4], "redis"));
    assert!(!crowded(sizes[5], "sqlite") && !crowded(sizes[5], "etcd"));
}

#[test]
fn fleet_plan_prints_a_table_with_a_legend() {
    let run = fleet(&["--processes", "2500"]).quiet();
    let lines = run.lines();
    assert_eq!(
        lines[0],
        "2,500 processes, 1,000 IDs/s each, from 2026-01-01 until 2081-01-01, in at most 63 bits"
    );
    let at = |start: &str| {
        let found = lines.iter().position(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {}", run.text()))
    };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        words(lines[at("processes  ")]),
        ["processes", "nodes", "node", "bits", "IDs/s", "renewals/s", "restart/s"]
    );
    assert!(lines[at("processes  ")..].iter().all(|line| line.len() <= 88), "{}", run.text());
    let last = at("2,500  ");
    assert_eq!(words(lines[last]), ["2,500", "2,542", "12", "2,500,000", "750", "1,250"]);
    assert!(lines[last + 1].starts_with("  stores: "), "{}", lines[last + 1]);
    assert_eq!(lines[last + 2], "  documents: none", "the processes write too often");
    assert_eq!(lines[last + 3], "  presets: sonyflake");
    assert!(lines.iter().any(|line| line.contains("IDs/s in total")), "{}", run.text());
    assert!(run.text().contains("each process renews its lease every 3.3 s on average"));
}

#[test]
fn plan_computes_nodes_and_renewals_from_lifetime_ttl_and_window() {
    let size = |args: &[&str]| {
        let values = fleet(&[&["--processes", "5", "--json"], args].concat()).quiet().json();
        values.last().unwrap().clone()
    };
    assert_eq!(size(&["--lifetime", "60s"])["nodes_needed"], 10);
    assert_eq!(size(&["--lifetime", "60s", "--ttl", "2min"])["nodes_needed"], 15);
    assert_eq!(size(&["--window", "60s", "--ttl", "3min"])["renewals_per_second"], 0.25);
    // Half of the TTL is shorter than a third of the window, so the TTL determines the rate of
    // renewals.
    assert_eq!(size(&["--window", "1h", "--ttl", "20s"])["renewals_per_second"], 0.5);
}

#[test]
fn brokers_reduce_the_load_on_the_store() {
    let values = fleet(&["--processes", "100000", "--brokers", "3", "--json"]).quiet().json();
    let size = values.last().unwrap();
    // Within the TTL of 12 s, 334 processes die. The plan adds a third of the nodes in use as
    // spares, and two blocks of 256 nodes for each broker.
    assert_eq!(size["nodes_needed"], 100_334 + 33_445 + 6 * 256);
    assert_eq!(size["node_bits"], 18);
    // Each broker has 131 full blocks and one empty block, and renews each block three times
    // in 10 s.
    let renewals = size["renewals_per_second"].as_f64().unwrap();
    assert!((renewals - 3.0 * 132.0 * 0.3).abs() < 1e-6, "{size}");
    assert_eq!(size["each_broker"]["blocks"], 132);
    assert_eq!(size["each_broker"]["nodes_in_a_block"], 256);
    let of_each = size["each_broker"]["renewals_per_second"].as_f64().unwrap();
    assert!((of_each - 100_000.0 / 3.0 / (4.0 / 3.0)).abs() < 1e-6, "{size}");
    for store in size["stores"].as_array().unwrap() {
        assert_eq!(store["suffices"], true, "{store}");
        assert_eq!(store["more_connections_than_default"], false, "{store}");
    }
    let text = fleet(&["--processes", "100000", "--brokers", "3"]).quiet();
    assert!(text.text().contains("  each broker: 25,000 renewals/s, 132 blocks of 256 nodes\n"));
    assert!(text.text().contains("each broker renews each block every 3.3 s"));
    // A transaction renews at most 48 blocks, so each broker needs three transactions.
    let transactions = size["transactions_per_second"].as_f64().unwrap();
    assert!((transactions - 3.0 * 3.0 * 0.3).abs() < 1e-6, "{size}");
    let refused = fleet(&["--processes", "5", "--brokers", "0"]);
    assert!(refused.stderr.contains("brokers 0 is out of range"), "{}", refused.stderr);
}

#[test]
fn plan_shows_requests_to_document_stores_and_their_price() {
    let args = ["--processes", "1000", "--brokers", "2"];
    let text = fleet(&args).quiet().text().to_owned();
    let documents =
        "  documents: kubernetes 72/min, s3 72/min ($8.40), dynamodb 108/min ($22.55)\n";
    assert!(text.contains(documents), "{text}");
    let longer = [&args[..], &["--block-window", "30s", "--json"]].concat();
    let values = fleet(&longer).quiet().json();
    let size = values.last().unwrap();
    assert!((size["transactions_per_second"].as_f64().unwrap() - 0.2).abs() < 1e-6, "{size}");
    for store in size["documents"].as_array().unwrap() {
        let requests = if store["store"] == "dynamodb" { 36.0 } else { 24.0 };
        let found = store["requests_per_minute"].as_f64().unwrap();
        assert!((found - requests).abs() < 1e-6, "{store}");
        assert_eq!(store["suffices"], true, "{store}");
        assert_eq!(store["usd_per_month"].is_null(), store["store"] == "kubernetes", "{store}");
    }
    let alone = fleet(&["--processes", "5", "--block-window", "30s"]);
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
}

#[test]
fn fleet_plan_error_suggests_the_largest_possible_fleet() {
    let need =
        |processes: &str| plan(&["--processes", processes, "--rate", "4000000", "--until", "2090"]);
    let run = need("1000000");
    assert_eq!((run.code, run.text()), (Some(1), ""));
    let rest = run.stderr.split("lower --processes to ").nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{}", run.stderr));
    let most: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let more = (most.parse::<u64>().unwrap() + 1).to_string();
    assert_eq!((need(&most).code, need(&more).code), (Some(0), Some(1)));
}

#[test]
fn fleet_plan_rejects_invalid_options() {
    for (args, message) in [
        (["--processes", "0"], "FLAKEID_FIELD_OUT_OF_RANGE: processes 0 is out of range: must be"),
        (["--processes", "1000000001"], "FLAKEID_FIELD_OUT_OF_RANGE: processes 1000000001 is out"),
        (["--window", "1ms"], "FLAKEID_FIELD_OUT_OF_RANGE: --window 1 ms is out of range: must be"),
        (["--ttl", "31d"], "FLAKEID_FIELD_OUT_OF_RANGE: --ttl 2678400000 ms is out of range: must"),
        (["--lifetime", "0s"], "FLAKEID_FIELD_OUT_OF_RANGE: --lifetime 0 ms is out of range: must"),
        (["--lifetime", "soon"], "FLAKEID_INVALID_OPTION: --lifetime: \"soon\" is not a duration"),
    ] {
        let processes = ["--processes", "5"];
        let args = if args[0] == processes[0] { args.to_vec() } else { [processes, args].concat() };
        let run = fleet(&args);
        assert_eq!((run.code, run.text()), (Some(1), ""), "{args:?}");
        assert!(run.stderr.starts_with(&format!("flakeid: {message}")), "{}", run.stderr);
    }
    for args in [&["--processes", "5", "--nodes", "5"][..], &["--nodes", "5", "--ttl", "9s"], &[]] {
        assert_eq!(fleet(args).code, Some(2), "{args:?}");
    }
}
