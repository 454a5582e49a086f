//! Tests of `leases ls` and `whois` with a broker's URL, and with the URL of the broker's store.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::refusals::refused;
use crate::run::{run, scratch};
use crate::serve::{end, serve, serve_with};

fn next(url: &str, more: &[&str]) -> String {
    run(&[&["next", "--store", url], more].concat()).quiet().text().trim_end().to_owned()
}

fn whois(id: &str, url: &str) -> Value {
    run(&["whois", id, "--store", url]).quiet().json().swap_remove(0)
}

/// The broker immediately reports the process that generated an ID. The store reports the process
/// only after the broker has renewed its block.
#[test]
fn whois_finds_a_client_through_the_broker_or_store() {
    let (_, store) = scratch("brokered");
    let (mut server, url) = serve(&["--store", &store]);
    let id = next(&url, &["--name", "import"]);
    let at_once = whois(&id, &url);
    assert_eq!(at_once["holder"]["owner"], "import", "{at_once}");
    assert_eq!(at_once["holder"]["current"], false, "the client has released its node");
    assert_eq!(at_once["broker"]["owner"], url.as_str());
    assert_ne!(at_once["broker"]["pid"], at_once["holder"]["pid"]);

    let started = Instant::now();
    let later = loop {
        let found = whois(&id, &store);
        assert_eq!(found["broker"]["owner"], url.as_str(), "{found}");
        assert_eq!(found["broker"]["current"], true, "{found}");
        if !found["holder"].is_null() {
            break found;
        }
        assert!(found["reason"].as_str().unwrap().contains("renews its block"), "{found}");
        assert!(started.elapsed() < Duration::from_secs(20), "{found}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(later["holder"]["owner"], "import");
    assert_eq!(later["holder"]["pid"], at_once["holder"]["pid"]);
    assert_eq!(
        later["holder"]["current"],
        Value::Null,
        "only the broker knows whether the client holds the node"
    );
    assert_eq!((&later["node"], &later["reason"]), (&at_once["node"], &Value::Null));
    let range = later["holder"]["from_unix_ms"].as_i64().unwrap()
        ..later["holder"]["to_unix_ms"].as_i64().unwrap();
    assert!(range.contains(&later["unix_ms"].as_i64().unwrap()), "{later}");

    // The server still holds the node with which it generates its own IDs.
    let own = run(&["leases", "ls", "--store", &url]).quiet().json();
    assert_eq!(
        (own.len(), &own[0]["state"], &own[0]["namespace"]),
        (1, &"held".into(), &"default".into())
    );
    assert_eq!(own[0]["pid"], later["broker"]["pid"]);
    let all = run(&["leases", "ls", "--all", "--store", &url]).quiet().json();
    let names: Vec<_> = all.iter().map(|row| (&row["state"], &row["owner"])).collect();
    assert_eq!(names, [(&"held".into(), &Value::Null), (&"free".into(), &"import".into())]);
    for field in ["start", "fence", "fence_unix_ms", "acquired_unix_ms", "renewed_unix_ms"] {
        assert!(all[1][field].as_i64().unwrap() > 0, "{field}: {}", all[1]);
    }
    assert_eq!((&all[1]["grant"], &all[1]["host"]), (&1.into(), &later["holder"]["host"]));

    // A broker records its last grants in the store before it exits.
    let last = next(&url, &["--name", "last"]);
    end(&mut server);
    let found = whois(&last, &store);
    assert_eq!(found["holder"]["owner"], "last", "{found}");
    assert_eq!(
        (&found["holder"]["current"], &found["broker"]["current"]),
        (&false.into(), &false.into())
    );
    assert_eq!(whois(&id, &store)["holder"]["pid"], later["holder"]["pid"]);
}

/// If a broker is killed before it records its grants, the store can report only the
/// broker that granted the lease, not the client that generated the ID.
#[test]
fn whois_reports_a_killed_broker_instead_of_its_client() {
    let (_, store) = scratch("brokered_killed");
    // The broker records its grants when it renews its block: after a third of the window of the block.
    let init = ["leases", "init", "--block-bits", "4", "--max-window", "1h", "--store", &store];
    run(&init).quiet();
    let (mut server, url) = serve(&["--store", &store]);
    let id = next(&url, &["--name", "import"]);
    server.kill();
    let found = whois(&id, &store);
    assert_eq!((&found["holder"], &found["broker"]["owner"]), (&Value::Null, &url.as_str().into()));
    assert!(found["reason"].as_str().unwrap().contains("unless it is killed"), "{found}");
    // Another broker returns the same result as the store. If a broker does not respond, the error
    // contains the broker's URL.
    let (_other, other) = serve(&["--store", &store]);
    let again = whois(&id, &other);
    assert_eq!((&again["holder"], &again["broker"]["owner"]), (&Value::Null, &url.as_str().into()));
    let gone = run(&["whois", &id, "--store", &url]);
    refused(&gone, "FLAKEID_STORE_UNAVAILABLE", &[&url]);
}

/// A broker rejects requests that only a store supports. Access to the broker's data requires the
/// broker's token or its Unix socket.
#[test]
fn broker_rejects_operator_commands_and_requests_without_its_token() {
    let (dir, store) = scratch("brokered_refused");
    let tokens = dir.join("tokens");
    std::fs::write(&tokens, "correct-horse-battery-staple\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let (_server, url) = serve(&["--store", &store, "--token-file", tokens]);
    let with_token = format!("{url}?token-file={tokens}");
    let hint = "name the store that it leases from";
    for args in [
        &["leases", "init"][..],
        &["leases", "release", "1", "--yes"],
        &["leases", "quarantine", "1", "--yes"],
        &["leases", "fast-forward", "--by", "1s", "--yes"],
        &["leases", "adopt", "--yes"],
    ] {
        let denied = run(&[args, &["--store", &with_token]].concat());
        refused(&denied, "FLAKEID_STORE_REJECTED", &[hint]);
    }
    let unknown = run(&["leases", "ls", "--store", &url]);
    refused(&unknown, "FLAKEID_STORE_REJECTED", &["Authorization: Bearer"]);
    let missing = run(&["leases", "ls", "--namespace", "orders", "--store", &with_token]);
    refused(&missing, "FLAKEID_STORE_REJECTED", &["no namespace \"orders\""]);
    assert_eq!(run(&["leases", "ls", "--store", &with_token]).quiet().json().len(), 1);
    let none = run(&["whois", "17", "--store", &with_token]).quiet().json();
    assert_eq!(none[0]["reason"], "the history of node 0 has no window that covers the ID's tick");

    let socket = dir.join("socket");
    let at_socket = ["--unix", socket.to_str().unwrap(), "--namespace", "orders"];
    let (_other, shown) = serve_with(&[&["--store", &store], &at_socket[..]].concat());
    assert!(shown.starts_with("http+unix:"), "{shown}");
    let url = format!("http+unix://{}", socket.display());
    let id = next(&url, &["--namespace", "orders", "--name", "import"]);
    let found = run(&["whois", &id, "--namespace", "orders", "--store", &url]).quiet().json();
    assert_eq!(found[0]["holder"]["owner"], "import", "{}", found[0]);
    let all =
        run(&["leases", "ls", "--all", "--namespace", "orders", "--store", &url]).quiet().json();
    assert_eq!(all.len(), 2);
}
