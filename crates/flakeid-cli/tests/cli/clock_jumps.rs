//! Tests of a server on a host whose clock is eight hours wrong for three seconds.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Id, Layout, SystemClock};
use flakeid_test_servers::{HostClock, PostgresServer, Server};

use crate::run::{flakeid, run, scratch};
use crate::serve::{Serving, address_of, end, request};

const HOURS: i64 = 3_600_000;

/// Starts a server whose host has this clock, and returns the server and its URL.
fn serve_on(clock: &HostClock, store: &str) -> (Serving, String) {
    let mut command = flakeid();
    command.args(["serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--store", store]);
    clock.apply_to(&mut command);
    address_of(command.stdout(Stdio::piped()).spawn().unwrap())
}

/// Requests an ID, and checks that it is above `last`. Returns whether the server issued one.
fn next_id(url: &str, last: &mut u64) -> bool {
    let reply = request(url, "POST /v1/default/ids?count=1");
    let Some(id) = reply.split('"').find_map(|text| text.parse().ok()) else {
        assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
        return false;
    };
    assert!(id > *last, "{id} follows {last}");
    *last = id;
    true
}

/// Checks that the server issues increasing IDs soon after its clock is right again, and that the store is as it was.
fn check_jump(store: &str, error_ms: i64) {
    let clock = HostClock::new().unwrap();
    let (mut server, url) = serve_on(&clock, store);
    let mut last = 0;
    assert!(next_id(&url, &mut last));
    clock.set_error(error_ms).unwrap();
    let wrong = Instant::now();
    while wrong.elapsed() < Duration::from_secs(3) {
        next_id(&url, &mut last);
        thread::sleep(Duration::from_millis(20));
    }
    clock.set_error(0).unwrap();
    let (right, mut issued) = (Instant::now(), None);
    while right.elapsed() < Duration::from_secs(5) || issued.is_none() {
        if next_id(&url, &mut last) {
            issued = Some(Instant::now());
        }
        // Two seconds without an ID are enough on a machine that does nothing else.
        let without = issued.unwrap_or(right).elapsed();
        assert!(without < Duration::from_secs(10), "no ID for {without:?}");
        thread::sleep(Duration::from_millis(50));
    }
    // A wrong floor, fence or quiet time would delay the next process, or its IDs would be ahead of the clock.
    let before = SystemClock.unix_ms();
    let id = run(&["next", "--store", &url]).quiet();
    let id = Id::from_u64(id.text().trim().parse().unwrap());
    let parts = Layout::TWITTER.unpack(id).unwrap();
    let ahead = Layout::TWITTER.unix_ms_at(parts.tick) - before;
    assert!((-1_000..60_000).contains(&ahead), "the ID is {ahead} ms ahead of the clock");
    let rows = run(&["leases", "ls", "--all", "--store", store]).quiet().json();
    for row in rows {
        let fence = row["fence_unix_ms"].as_i64().unwrap();
        assert!(fence < SystemClock.unix_ms() + 60_000, "{row}");
    }
    end(&mut server);
}

#[test]
fn server_on_sqlite_continues_after_its_clock_was_ahead() {
    check_jump(&scratch("clock_ahead").1, 8 * HOURS);
}

#[test]
fn server_on_sqlite_continues_after_its_clock_was_behind() {
    check_jump(&scratch("clock_behind").1, -8 * HOURS);
}

#[test]
fn server_on_postgres_continues_after_its_clock_was_wrong() {
    let server = PostgresServer::new();
    run(&["leases", "init", "--fresh", "--block-bits", "4", "--store", &server.url()]).quiet();
    check_jump(&server.url(), 8 * HOURS);
    check_jump(&server.url(), -8 * HOURS);
}
