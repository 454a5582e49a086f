//! Tests of `flakeid whois`, which finds the process that generated an ID.

use serde_json::Value;

use crate::leases::die_with;
use crate::refusals::refused;
use crate::run::{run, scratch};

fn next(url: &str, more: &[&str]) -> String {
    run(&[&["next", "--store", url], more].concat()).quiet().text().trim_end().to_owned()
}

#[test]
fn whois_finds_the_process_that_generated_an_id() {
    let (_, url) = scratch("whois");
    let killed = die_with(&url, "3");
    let first = next(&url, &["--node", "3"]);
    let named = next(&url, &["--name", "import"]);
    let found = run(&["whois", &first, &named, "--store", &url]).quiet().json();
    assert_eq!((&found[0]["id"], &found[0]["node"]), (&first.as_str().into(), &3.into()));
    assert_ne!(found[0]["holder"]["pid"], killed);
    assert_eq!(
        (&found[0]["holder"]["grant"], &found[0]["holder"]["current"]),
        (&2.into(), &false.into())
    );
    assert_eq!(found[1]["holder"]["owner"], "import");
    for found in &found {
        let (from, to) = (&found["holder"]["from_unix_ms"], &found["holder"]["to_unix_ms"]);
        let range = from.as_i64().unwrap()..to.as_i64().unwrap();
        assert!(range.contains(&found["unix_ms"].as_i64().unwrap()), "{found}");
        assert!(found["reason"].is_null());
    }
}

#[test]
fn whois_explains_why_an_id_has_no_known_holder() {
    let (_, url) = scratch("whois_unknown");
    let id = next(&url, &["--node", "3"]);
    // The first ID is from node 569 in 2017. The second ID is from node 3 at the layout's epoch,
    // long before the namespace existed.
    let found = run(&["whois", "910499571847892992", "12288", &id, "--store", &url]).quiet().json();
    assert_eq!((&found[0]["holder"], &found[1]["holder"]), (&Value::Null, &Value::Null));
    assert_eq!(found[0]["reason"], "node 569 was never leased in the namespace default");
    assert_eq!(found[1]["reason"], "the history of node 3 has no window that covers the ID's tick");
    let later: u64 = id.parse::<u64>().unwrap() + (3_600_000 << 22);
    let later = run(&["whois", &later.to_string(), "--store", &url]).quiet().json();
    let reason = later[0]["reason"].as_str().unwrap();
    assert!(
        reason
            .starts_with("no window of node 3 reaches the ID's tick: the latest window ends at 20"),
        "{reason}"
    );
}

#[test]
fn whois_reports_that_a_namespace_keeps_no_history() {
    let (_, url) = scratch("whois_none");
    run(&["leases", "init", "--no-history", "--store", &url]).quiet();
    let id = next(&url, &[]);
    let found = run(&["whois", &id, "--store", &url]).quiet().json();
    assert_eq!(
        found[0]["reason"],
        "namespace default was created without a history, which cannot be added"
    );
}

#[test]
fn whois_decodes_ids_with_the_layout_of_the_namespace() {
    let (_, url) = scratch("whois_layout");
    let id = next(&url, &["--layout", "sonyflake", "--node", "40000"]);
    let found = run(&["whois", &id, "--store", &url]).quiet().json();
    assert_eq!(found[0]["node"], 40_000);
    assert!(found[0]["holder"]["pid"].is_u64(), "{}", found[0]);
    let code = "FLAKEID_INVALID_ID";
    refused(&run(&["whois", "x", "--store", &url]), code, &["\"x\" is not an ID in decimal"]);
    refused(&run(&["whois", "18446744073709551615", "--store", &url]), code, &["bits set outside"]);
    assert_eq!(run(&["whois", "--store", &url]).code, Some(2));
}
