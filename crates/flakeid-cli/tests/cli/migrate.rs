//! Tests of `flakeid migrate`: the IDs that flakeid generates after a migration must be larger than
//! the IDs from the other library.

use flakeid_core::Layout;
#[cfg(feature = "_system-tests")]
use flakeid_test_servers::{PostgresServer, Server};
use serde_json::{Value, json};

use crate::refusals::refused;
use crate::run::{Run, run, scratch};

/// Sample IDs that other ID libraries generated, most of them on the same day.
const GENERATED: &str = include_str!("../../../../tests/vectors/guess.json");

fn migrate(url: &str, args: &[&str]) -> Run {
    run(&[&["migrate", "--yes", "--store", url], args].concat())
}

fn next(url: &str, namespace: &str, layout: &str) -> Vec<u64> {
    let of = ["--store", url, "--namespace", namespace, "--layout", layout];
    let ids = run(&[&["next", "-n", "3"] as &[_], &of].concat()).quiet();
    ids.lines().iter().map(|line| line.parse().unwrap()).collect()
}

/// Returns the IDs in `GENERATED` that come from the given system.
fn ids_of(system: &str) -> Vec<String> {
    let file: Value = serde_json::from_str(GENERATED).unwrap();
    let groups = file["groups"].as_array().unwrap();
    let group = groups.iter().find(|group| group["system"] == system);
    let group = group.unwrap_or_else(|| panic!("no IDs of {system}"));
    let ids = group["ids"].as_array().unwrap().iter();
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[test]
fn ids_after_migration_exceed_the_ids_of_every_library() {
    let (_, url) = scratch("migrate");
    for (library, system) in [
        ("bwmarrin", "bwmarrin/snowflake"),
        ("sonyflake", "sony/sonyflake"),
        ("flake-idgen", "flake-idgen"),
        ("sapphire", "@sapphire/snowflake DiscordSnowflake"),
        ("snowflake-id", "snowflake-id (Python)"),
        ("hutool", "hutool"),
        ("mybatis-plus", "MyBatis-Plus"),
        ("baidu-cached", "Baidu UidGenerator"),
        ("cosid", "CosId"),
        ("yitter", "yitter"),
        ("tsid", "tsid-creator"),
    ] {
        let ids = ids_of(system);
        let given: Vec<&str> = ids.iter().flat_map(|id| ["--last-id", id.as_str()]).collect();
        let args = [&["--from", library, "--namespace", library], &given[..]].concat();
        let done = migrate(&url, &args).quiet().json().remove(0);
        assert_eq!(done["created"], true, "{done}");
        let last = done["last"].as_array().unwrap();
        assert_eq!(last.len(), ids.len());
        // The time of each ID must be in a year in which the library existed. A wrong layout would
        // yield other years.
        for last in last {
            assert!(("2016".."2027").contains(&&last["time"].as_str().unwrap()[..4]), "{last}");
        }
        let largest = ids.iter().map(|id| id.parse::<u64>().unwrap()).max().unwrap();
        assert!(
            next(&url, library, done["layout"].as_str().unwrap()).iter().all(|id| *id > largest),
            "{library}"
        );
    }
}

#[test]
fn migrate_quarantines_nodes_that_are_still_in_use() {
    let (_, url) = scratch("migrate_in_use");
    let last = ids_of("yitter").pop().unwrap();
    let args = ["--from", "yitter", "--last-id", &last, "--in-use", "0-30,32-62"];
    let done = migrate(&url, &args).quiet().json().remove(0);
    assert_eq!(done["quarantined"].as_array().unwrap().len(), 62);
    for left in ["31", "63"] {
        let used = run(&["next", "--store", &url, "--node", left, "--layout", "js-safe"]);
        used.quiet();
    }
    let none = run(&["next", "--store", &url, "--node", "7", "--layout", "js-safe"]);
    refused(&none, "FLAKEID_STORE_REJECTED", &["node 7 of namespace \"default\" is quarantined"]);
    // A second migration that quarantines another node warns that this node has already been leased
    // from the store.
    let more = migrate(&url, &["--from", "yitter", "--last-id", &last, "--in-use", "31"]);
    assert_eq!(more.code, Some(0));
    assert!(
        more.stderr.contains("warning: node 31 was leased from this store before"),
        "{}",
        more.stderr
    );
    assert_eq!(more.json()[0]["created"], false);
}

#[test]
fn migrate_raises_but_never_lowers_a_namespace_floor() {
    let (_, url) = scratch("migrate_floor");
    let first = next(&url, "default", "twitter")[0];
    // The last ID is from a generator whose clock was ten seconds ahead.
    let ahead = (first >> 22) + 10_000;
    let last = (ahead << 22).to_string();
    let moved = migrate(&url, &["--from", "bwmarrin", "--last-id", &last]);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    assert!(moved.stderr.contains("which is later than this host's clock"), "{}", moved.stderr);
    assert!(next(&url, "default", "twitter").iter().all(|id| id >> 22 > ahead));
    // Migrating again with an earlier ID does not lower the floor.
    let earlier = ids_of("bwmarrin/snowflake").remove(0);
    migrate(&url, &["--from", "bwmarrin", "--last-id", &earlier]).quiet();
    assert!(next(&url, "default", "twitter").iter().all(|id| id >> 22 > ahead));
}

#[test]
fn ids_after_migration_to_another_layout_exceed_earlier_ids() {
    let (_, url) = scratch("migrate_layout");
    let last = ids_of("sony/sonyflake").pop().unwrap();
    let args = ["--from", "sonyflake", "--last-id", &last, "--layout", "twitter"];
    let done = migrate(&url, &args).quiet().json().remove(0);
    assert_eq!(done["layout"], "twitter");
    let floor = Layout::TWITTER.tick_above(last.parse().unwrap()).unwrap();
    let floor = Layout::TWITTER.timestamp(Layout::TWITTER.unix_ms_at(floor)).to_string();
    assert_eq!(done["floor"], json!(floor));
    assert!(next(&url, "default", "twitter")[0] > last.parse().unwrap());
}

#[test]
fn migrate_rejects_invalid_options_before_it_changes_anything() {
    let (dir, url) = scratch("migrate_refused");
    let sonyflake: &[&str] = &["--from", "sonyflake", "--last-id"];
    for (args, code, parts) in [
        (
            [sonyflake, &["2124904305097330688"] as &[&str]].concat(),
            "FLAKEID_INVALID_OPTION",
            &["would be from 2054-10-20", "hint: `flakeid inspect --guess 2124904305097330688`"]
                as &[&str],
        ),
        (
            [sonyflake, &["647469744588332839", "--layout", "js-safe"]].concat(),
            "FLAKEID_INVALID_OPTION",
            &["all IDs of the layout js-safe are smaller than 647469744588332839"],
        ),
        (
            vec![
                "--from",
                "flake-idgen",
                "--last-id",
                "7530669871642877953",
                "--layout",
                "twitter",
            ],
            "FLAKEID_INVALID_OPTION",
            &["only from 2067-09-26", "choose a layout with an earlier epoch"],
        ),
        (
            [sonyflake, &["647469744588332839", "--layout", "twitter", "--in-use", "3"]].concat(),
            "FLAKEID_INVALID_OPTION",
            &["can equal IDs of flakeid; stop that library first"],
        ),
        (
            [sonyflake, &["647469744588332839", "--in-use", "65536"]].concat(),
            "FLAKEID_FIELD_OUT_OF_RANGE",
            &["node 65536 is out of range: must be from 0 to 65535"],
        ),
        (
            vec!["--from", "baidu", "--last-id", "1"],
            "FLAKEID_INVALID_OPTION",
            &["its ticks end at 2024-11-20T13:24:16Z; choose another with --layout"],
        ),
        (
            vec!["--from", "snowflake", "--last-id", "1"],
            "FLAKEID_INVALID_LAYOUT",
            &["hint: --from must be a layout or one of these libraries: bwmarrin, sonyflake,"],
        ),
    ] {
        refused(&migrate(&url, &args), code, parts);
    }
    let unconfirmed =
        run(&["migrate", "--from", "yitter", "--last-id", "873739216556229", "--store", &url]);
    refused(
        &unconfirmed,
        "FLAKEID_INVALID_OPTION",
        &["add --yes to continue", "whose windows do not start before"],
    );
    let tried =
        migrate(&url, &["--from", "yitter", "--last-id", "873739216556229", "--dry-run"]).quiet();
    assert!(tried.json()[0].get("created").is_none());
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "something was written");
}

#[cfg(feature = "_system-tests")]
#[test]
fn migrate_requires_the_fresh_flag_for_new_server_namespaces() {
    let server = PostgresServer::new();
    let args = ["--from", "hutool", "--last-id", "2124904305097330688", "--in-use", "1/7"];
    let unspecified = migrate(&server.url(), &args);
    refused(
        &unspecified,
        "FLAKEID_INVALID_OPTION",
        &["--fresh: namespace default of", "add --fresh; if it did"],
    );
    let done = migrate(&server.url(), &[&args[..], &["--fresh"]].concat()).quiet().json().remove(0);
    assert_eq!((&done["created"], &done["quarantined"]), (&json!(true), &json!([39])));
    assert!(next(&server.url(), "default", "twitter")[0] > 2_124_904_305_097_330_688);
}
