//! Tests of the programs that print credentials for the store, while `flakeid exec` runs a command.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flakeid_test_servers::{DynamoDbServer, Server};
use serde_json::Value;

use super::{TIMEOUT, command, ended, row, script};
use crate::run::{run, scratch};

/// Runs a command with `flakeid exec` on a table of `DynamoDB`. The script `helper` runs the lines in `helper`, and prints
/// credentials that have expired, so that it runs before each request. The file `runs` contains a line for each run.
/// Checks that `flakeid exec` succeeds without a message, and returns the folder of the files and the state of the node.
fn exec_with_helper(name: &str, helper: &str, run_command: &str) -> (PathBuf, Value) {
    let (dir, server) = (scratch(name).0, DynamoDbServer::new());
    let store = server.url();
    run(&["leases", "init", "--store", &store, "--fresh"]).quiet();
    let credentials = r#"{"Version":1,"AccessKeyId":"a","SecretAccessKey":"b","Expiration":"2020-01-01T00:00:00Z"}"#;
    script(&dir, "helper", &format!("echo started >> runs\n{helper}\necho '{credentials}'"));
    fs::write(dir.join("config"), "[default]\ncredential_process = ./helper\n").unwrap();
    let table = DynamoDbServer::TABLE;
    let url = format!("dynamodb://{table}?region=us-east-1&endpoint={}", server.endpoint());
    let mut exec = command(&dir, &["--store", &url, "--", "sh", "-c", run_command]);
    for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"] {
        exec.env_remove(variable);
    }
    exec.env("AWS_CONFIG_FILE", "config").env("AWS_SHARED_CREDENTIALS_FILE", "missing");
    ended(exec.spawn().unwrap()).quiet();
    (dir, row(&store)["state"].take())
}

#[test]
fn exec_neither_waits_for_its_own_helper_nor_ends_it() {
    // The command ends while the helper for the first renewal runs.
    let helper = "if [ -e slow ]; then rm slow; sleep 0.3; fi; echo ended >> ended";
    let command = "touch slow; while [ -e slow ]; do sleep 0.02; done";
    let (dir, _) = exec_with_helper("exec_helper", helper, command);
    let lines = |file: &str| fs::read_to_string(dir.join(file)).unwrap().lines().count();
    // A helper for the release may outlive `flakeid exec`.
    let begun = Instant::now();
    while lines("ended") != lines("runs") {
        assert!(begun.elapsed() < TIMEOUT, "a helper was ended");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn helper_that_hangs_is_killed_and_runs_again() {
    let helper = "if [ $(wc -l < runs) = 2 ]; then sleep 600; fi";
    let (_, state) = exec_with_helper("exec_hung_helper", helper, "true");
    assert_eq!(state, "free");
}
