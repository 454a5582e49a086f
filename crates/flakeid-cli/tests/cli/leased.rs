//! Tests of `flakeid next` with a store, from which the command leases its node.

use flakeid_core::{Id, Layout};

use crate::refusals::refused;
use crate::run::{Run, finish, flakeid, run, run_and_close, run_with, scratch};

fn ids(run: &Run) -> Vec<Id> {
    run.lines().iter().map(|line| line.parse().unwrap()).collect()
}

fn node(run: Run) -> u64 {
    Layout::TWITTER.unpack(ids(&run.quiet())[0]).unwrap().node
}

/// Returns the rows of a namespace.
fn rows(url: &str) -> Vec<serde_json::Value> {
    run(&["leases", "ls", "--all", "--store", url]).quiet().json()
}

#[test]
fn flakeid_next_creates_a_store_in_the_working_directory() {
    let (dir, _) = scratch("relative");
    let mut command = flakeid();
    command.args(["next", "-n", "5", "--store", "sqlite://flakeid.db"]).current_dir(&dir);
    let ids = ids(&finish(command.output().unwrap()).quiet());
    assert_eq!(ids.len(), 5);
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(dir.join("flakeid.db").is_file());
}

#[test]
fn flakeid_next_releases_all_ticks_after_its_last_id() {
    let (_, url) = scratch("released");
    let first = ids(&run(&["next", "-n", "3", "--store", &url]).quiet());
    let rows = rows(&url);
    assert_eq!((rows.len(), &rows[0]["state"]), (1, &"free".into()), "{rows:?}");
    // The fence is the tick after the last ID's tick, so the store can grant all unused ticks again.
    let last_tick = Layout::TWITTER.unpack(first[2]).unwrap().tick;
    assert_eq!(rows[0]["fence"], last_tick + 1);
}

#[test]
fn flakeid_next_releases_its_node_when_its_pipe_closes() {
    let (_, url) = scratch("closed_pipe");
    run_and_close(&["next", "-n", "1000000000", "--store", &url], 100).quiet();
    assert_eq!(rows(&url)[0]["state"], "free");
}

#[test]
fn consecutive_runs_with_a_store_never_repeat_ids() {
    let (_, url) = scratch("following");
    let mut all = Vec::new();
    for _ in 0..10 {
        all.extend(ids(&run(&["next", "-n", "5000", "--store", &url]).quiet()));
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 50_000);
}

#[test]
fn named_holders_keep_their_nodes_and_other_holders_get_requested_nodes() {
    let (_, url) = scratch("identities");
    let named = || node(run(&["next", "--store", &url, "--name", "import"]));
    let first = named();
    assert_ne!(node(run(&["next", "--store", &url, "--name", "export"])), first);
    assert_eq!(named(), first);
    assert_eq!(node(run(&["next", "--store", &url, "--node", "700"])), 700);
    assert_eq!(node(run_with(&[("FLAKEID_NODE", "701")], &["next", "--store", &url])), 701);
    assert_eq!(node(run_with(&[("FLAKEID_STORE", &url)], &["next", "--node", "702"])), 702);
    // The `--name` option takes precedence over the environment variable `FLAKEID_NODE`.
    let named_again = ["next", "--store", &url, "--name", "import"];
    assert_eq!(node(run_with(&[("FLAKEID_NODE", "703")], &named_again)), first);
    let leased: Vec<u64> = rows(&url).iter().map(|row| row["node"].as_u64().unwrap()).collect();
    for node in [first, 700, 701, 702] {
        assert!(leased.contains(&node), "{node} is not in {leased:?}");
    }
    assert!(!leased.contains(&703));
}

#[test]
fn store_flag_takes_precedence_over_the_environment() {
    let (_, flag) = scratch("store_flag");
    let (_, variable) = scratch("store_variable");
    let variables = [("FLAKEID_STORE", variable.as_str()), ("FLAKEID_NAMESPACE", "there")];
    run_with(&variables, &["next"]).quiet();
    run_with(&variables, &["next", "--store", &flag, "--namespace", "here"]).quiet();
    let has = |url: &str, namespace: &str| {
        run(&["leases", "ls", "--store", url, "--namespace", namespace, "--all"]).code == Some(0)
    };
    assert!(has(&variable, "there") && has(&flag, "here"));
    assert!(!has(&variable, "here") && !has(&flag, "there"));
}

#[test]
fn flakeid_next_rejects_invalid_lease_options() {
    let (dir, url) = scratch("not_leased");
    let next = |args: &[&str]| run(&[&["next", "--store", &url], args].concat());
    next(&[]).quiet();
    let code = "FLAKEID_INVALID_OPTION";
    refused(&next(&["--name", "a", "--node", "1"]), code, &["either --name or a node, not both"]);
    refused(&next(&["--name", ""]), code, &["name: "]);
    refused(&next(&["--namespace", "a b"]), code, &["namespace: \"a b\" must have 1 to 64"]);
    refused(&next(&["--node", "1024"]), "FLAKEID_FIELD_OUT_OF_RANGE", &["from 0 to 1023"]);
    let other = next(&["--layout", "sonyflake"]);
    refused(&other, "FLAKEID_STORE_REJECTED", &["is for the layout t41.d5.w5.s12@1288834974657"]);
    let alone = run(&["next", "--node", "1", "--namespace", "orders"]);
    refused(&alone, code, &["--namespace requires --store"]);
    for (store, part) in [
        ("flakeid.db", "not the URL of a store"),
        ("nosql://db", "\"nosql\" is not a kind of store"),
        ("sqlite://a\nb.db", "contains a control character"),
    ] {
        refused(&run(&["next", "--store", store]), code, &["store: ", part]);
        let variable = run_with(&[("FLAKEID_STORE", store)], &["next"]);
        refused(&variable, code, &["store: ", part, "hint: the value comes from the environment"]);
    }
    refused(&run_with(&[("FLAKEID_STORE", "")], &["next"]), code, &["not the URL of a store"]);
    let nowhere = format!("sqlite://{}/no/such/directory/flakeid.db", dir.display());
    let run = run(&["next", "--store", &nowhere]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(run.stderr.starts_with("flakeid: FLAKEID_STORE_"), "{}", run.stderr);
}

#[test]
fn store_password_never_appears_in_errors() {
    // No server listens on port 1.
    for url in [
        "postgresql://ada:s3cret@127.0.0.1:1/db",
        "mysql://ada:s3cret@127.0.0.1:1/db",
        "redis://ada:s3cret@127.0.0.1:1/0",
        "etcd://ada:s3cret@127.0.0.1:1",
    ] {
        for args in [&["next"] as &[&str], &["leases", "ls"], &["leases", "init"], &["whois", "1"]]
        {
            let run = run_with(&[("FLAKEID_STORE", url)], args);
            assert_eq!((run.code, run.text()), (Some(1), ""), "{url} {args:?}");
            let begin = "flakeid: FLAKEID_STORE_UNAVAILABLE: ";
            assert!(run.stderr.starts_with(begin), "{url} {args:?}: {}", run.stderr);
            assert!(run.stderr.contains("127.0.0.1:1"), "{}", run.stderr);
            assert!(!run.stderr.contains("s3cret"), "{url} {args:?}: {}", run.stderr);
        }
    }
    for store in ["ada:s3cret@localhost", "oracle://ada:s3cret@localhost/db"] {
        let run = run(&["next", "--store", store]);
        assert!(run.code == Some(1) && !run.stderr.contains("s3cret"), "{}", run.stderr);
    }
}

#[test]
fn misplaced_store_url_is_shown_without_its_password() {
    let url = "postgresql://ada:s3cret 'a@127.0.0.1:1/db";
    let namespace = format!("--namespace={url}");
    for args in [
        &["leases", "ls", url] as &[&str],
        &["leases", "ls", "--store", "sqlite://x.db", &namespace],
        &["next", "--layout", url],
        &["next", "--node", url],
        &["next", "--node-from", url],
        &["next", "--color", url],
        &["inspect", url],
    ] {
        let run = run(args);
        assert!(
            run.code != Some(0) && run.stderr.contains("postgresql://…"),
            "{args:?}: {}",
            run.stderr
        );
        assert!(!run.stderr.contains("s3cret"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn node_source_option_sets_the_node_and_warns_about_unsafe_sources() {
    let from_environment = run_with(&[("FLAKEID_NODE", "9")], &["next", "--node-from", "env"]);
    assert_eq!(node(from_environment), 9);
    let missing = run(&["next", "--node-from", "env"]);
    refused(&missing, "FLAKEID_INVALID_OPTION", &["env: neither FLAKEID_NODE nor"]);
    for source in ["mac", "ipv4"] {
        let run = run(&["next", "--node-from", source]);
        // On a machine without a network, the command finds no address. It then fails instead of
        // warning about the unsafe source.
        let part =
            if run.code == Some(0) { "warning: nodes from" } else { "FLAKEID_INVALID_OPTION" };
        assert!(run.stderr.starts_with("flakeid: ") && run.stderr.contains(part), "{}", run.stderr);
    }
    assert_eq!(run(&["next", "--node-from", "mac", "--node", "1"]).code, Some(2));
}
