use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flakeid::{LeaseBuilder, LeaseEvent};
use flakeid_core::{Clock, Error, ErrorKind, Layout, ManualClock, SystemClock};
use flakeid_protocol::store::Store;
use flakeid_stores::Location;

/// The `max_wait` of attempts to open a lease. All these attempts must fail.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(500);

/// The time that `open` may take in addition to `max_wait`: the connection timeout of 2 s, plus 5 s for a busy machine.
const BEYOND: Duration = Duration::from_secs(2 + 5);

/// Every password in these tests, whether right or wrong, contains one of these two strings.
const SECRETS: [&str; 2] = ["sesame", "s3cret"];

/// Returns a layout with two nodes and with ticks from 1970 to 2109.
pub(crate) fn layout() -> Layout {
    "t42.n1.s12@0/1ms".parse().unwrap()
}

pub(crate) fn on(url: &str) -> LeaseBuilder {
    flakeid::lease(url, layout()).unwrap()
}

pub(crate) fn connect(url: &str) -> Box<dyn Store> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // On a busy machine, the first attempts to open a connection may exceed the timeout.
    let connect = || Location::parse(url).unwrap().connect(&clock).ok();
    (0..20).find_map(|_| connect()).expect("a connection")
}

/// Strings that an error message must contain.
pub(crate) type Parts<'a> = &'a [&'a str];

/// Checks that opening a lease fails in time with the expected kind of error. The error message must contain the
/// expected parts and must not contain secrets.
pub(crate) fn refused(builder: LeaseBuilder, kind: ErrorKind, parts: Parts<'_>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    let builder = builder
        .max_wait(MAX_WAIT)
        .observer(move |event: &LeaseEvent| log.lock().unwrap().push(event.clone()));
    check_secrecy(&format!("{builder:?}"));
    let start = Instant::now();
    let error = builder.open().expect_err("opening must fail");
    let took = start.elapsed();
    assert!(took <= MAX_WAIT + BEYOND, "opening took {took:?}: {error}");
    check_error(&error, kind, parts);
    for event in &*events.lock().unwrap() {
        assert!(!matches!(event, LeaseEvent::Acquired { .. }), "{event:?}");
        check_secrecy(&format!("{event:?}"));
    }
}

pub(crate) fn check_error(error: &Error, kind: ErrorKind, parts: Parts<'_>) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    assert!(error.code().starts_with("FLAKEID_"), "{}", error.code());
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    check_secrecy(&text);
    check_secrecy(&format!("{error:?}"));
}

/// Checks that a string contains neither a password nor anything that looks like a token.
pub(crate) fn check_secrecy(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{text}");
    }
    let digits = text.split(|c: char| !c.is_ascii_hexdigit());
    assert!(digits.clone().all(|run| run.len() < 32), "{text}");
}

/// Checks the requests that every kind of store must refuse. `open` receives the layout to request, and returns a
/// builder for a lease. The lease's namespace must use the layout that [`layout`] returns, and all its nodes must be
/// free.
pub(crate) fn check_refusals_of_any_store(open: &dyn Fn(Layout) -> LeaseBuilder) {
    refused(
        open(Layout::SONYFLAKE),
        ErrorKind::StoreRejected,
        &["is for the layout t42.n1.s12@0/1ms", "use that layout or another namespace"],
    );
    wrong_clocks_are_refused(open);
    {
        let held: Vec<_> =
            (0..2).map(|_| open(layout()).observer(|_| ()).open().unwrap()).collect();
        refused(open(layout()), ErrorKind::NoFreeNode, &["2 held", "`flakeid leases ls`"]);
        refused(open(layout()).node_range(1..=1), ErrorKind::NoFreeNode, &["1 held"]);
        for generator in &held {
            generator.next_id().unwrap();
        }
    }
    // All nodes must be free, because the refused requests took no node and the held nodes were released.
    for node in 0..2 {
        let generator = open(layout()).node_range(node..=node).observer(|_| ()).open().unwrap();
        assert_eq!(layout().unpack(generator.next_id().unwrap()).unwrap().node, node);
    }
}

/// Checks that leases are refused if the host's clock is 50 years ahead or behind.
fn wrong_clocks_are_refused(open: &dyn Fn(Layout) -> LeaseBuilder) {
    const YEARS: i64 = 50 * 365 * 86_400_000;
    for (by, side) in [(YEARS, "ahead of"), (-YEARS, "behind")] {
        let clock = ManualClock::new(SystemClock.unix_ms() + by);
        refused(
            open(layout()).clock(clock),
            ErrorKind::ClockSkew,
            &["this host's clock", side, "(NTP)"],
        );
    }
}
