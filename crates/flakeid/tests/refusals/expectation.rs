use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flakeid::{Generator, LeaseBuilder, LeaseEvent};
use flakeid_core::{Clock, Error, ErrorKind, Layout, ManualClock, SystemClock};

/// For the openings that are to be refused.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(500);

/// What `open` promises to take at most beyond that, and what a busy machine may add.
const BEYOND: Duration = Duration::from_secs(2 + 5);

/// A part of every password in these tests, the right ones and the wrong ones.
const SECRETS: [&str; 2] = ["sesame", "s3cret"];

/// Two nodes, from 1970 to 2109.
pub(crate) fn layout() -> Layout {
    "t42.n1.s12@0/1ms".parse().unwrap()
}

pub(crate) fn on(url: &str) -> LeaseBuilder {
    Generator::lease(url, layout()).unwrap()
}

/// What must be in the error's text.
pub(crate) type Parts<'a> = &'a [&'a str];

/// Opens what must be refused like this.
pub(crate) fn refused(builder: LeaseBuilder, kind: ErrorKind, parts: Parts<'_>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    let builder = builder
        .max_wait(MAX_WAIT)
        .observer(move |event: &LeaseEvent| log.lock().unwrap().push(event.clone()));
    check_secrecy(&format!("{builder:?}"));
    let start = Instant::now();
    let error = builder.open().expect_err("it was opened");
    let took = start.elapsed();
    assert!(took <= MAX_WAIT + BEYOND, "it took {took:?}: {error}");
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

/// Neither a password nor anything that looks like a token is in a text.
pub(crate) fn check_secrecy(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{text}");
    }
    let digits = text.split(|c: char| !c.is_ascii_hexdigit());
    assert!(digits.clone().all(|run| run.len() < 32), "{text}");
}

/// What every store refuses alike; `open` gives the builder for a layout at the namespace that has
/// [`layout`], of which no node may be held.
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
        refused(open(layout()).nodes(1, 1), ErrorKind::NoFreeNode, &["1 held"]);
        for generator in &held {
            generator.next_id().unwrap();
        }
    }
    // What was refused took nothing, and what was held is given back.
    for node in 0..2 {
        let generator = open(layout()).nodes(node, node).observer(|_| ()).open().unwrap();
        assert_eq!(layout().unpack(generator.next_id().unwrap()).unwrap().node, node);
    }
}

/// A host's clock that is 50 years ahead or behind.
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
