use std::sync::{Arc, Mutex};
use std::time::Duration;

use flakeid::{Generator, LeaseBuilder, LeaseEvent};
use flakeid_core::{Clock, ErrorKind, Id, ManualClock, SystemClock};
use flakeid_protocol::{MemoryStore, operations};

use crate::expectation::{MAX_WAIT, Parts, check_error, check_secrecy, layout};
use crate::files::use_up;

pub(crate) type Events = Arc<Mutex<Vec<LeaseEvent>>>;

/// Opens a lease with a short window. Returns the generator and a list that collects the lease's events.
pub(crate) fn hold(builder: LeaseBuilder) -> (Generator, Events) {
    let events = Events::default();
    let log = Arc::clone(&events);
    let builder = builder
        .window(Duration::from_millis(500))
        .max_wait(MAX_WAIT)
        .observer(move |event: &LeaseEvent| log.lock().unwrap().push(event.clone()));
    (builder.open().unwrap(), events)
}

/// Requests IDs from a lease that can no longer be renewed, until the lease expires. Checks that all IDs are below the
/// fence, and that no error, status or event contains a secret.
pub(crate) fn check_end(
    (generator, events): &(Generator, Events),
    kind: ErrorKind,
    parts: Parts<'_>,
) -> Vec<Id> {
    let mut ids = Vec::new();
    let error = use_up(&mut ids, || generator.next_id());
    check_error(&error, ErrorKind::LeaseExpired, parts);
    let lease = flakeid::Lease::of(generator).unwrap().status();
    check_secrecy(&format!("{lease:?} {generator:?}"));
    check_error(&lease.last_error.unwrap(), kind, parts);
    for event in &*events.lock().unwrap() {
        check_secrecy(&format!("{event:?}"));
    }
    for id in &ids {
        assert!(layout().unpack(*id).unwrap().tick < lease.fence, "{id} {}", lease.fence);
    }
    ids
}

/// Checks that all IDs are below the stored fence, even if the host's clock is set forward or back by 50 years.
#[test]
fn clock_changes_never_extend_a_lease_beyond_its_window() {
    const YEARS: i64 = 50 * 365 * 86_400_000;
    for by in [YEARS, -YEARS] {
        let store = MemoryStore::new();
        let clock = Arc::new(ManualClock::new(SystemClock.unix_ms()));
        let opened = store.clone();
        let builder = LeaseBuilder::from_store(layout(), move || Ok(Box::new(opened.clone())));
        let held = hold(builder.clock(Shared(Arc::clone(&clock))));
        let mut ids = vec![held.0.next_id().unwrap()];
        clock.set(SystemClock.unix_ms() + by);
        if by > 0 {
            ids.extend(check_end(&held, ErrorKind::ClockSkew, &["this host's clock"]));
        } else {
            let error = use_up(&mut ids, || held.0.next_id());
            check_error(&error, ErrorKind::ClockRollback, &["clock"]);
        }
        let row = &operations::list(&mut store.clone(), "default").unwrap().rows[0];
        assert!(ids.iter().all(|id| layout().unpack(*id).unwrap().tick < row.fence));
    }
}

struct Shared(Arc<ManualClock>);

impl Clock for Shared {
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        self.0.wait_until(unix_ms, at_most)
    }
}
