//! Tests of a host whose clock is set forward for some seconds, or for good.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use flakeid_core::{Clock, Layout};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Grant, Refusal, Renew, Renewed, Token};

use crate::operations;
use crate::restorations::{SPACE, now, request};
use crate::store_under_test::{Sqlite, connect_with};

const HOURS_8: i64 = 8 * 3_600_000;

/// The clocks of a host, which a test sets.
struct Host {
    begun: i64,
    /// The milliseconds since the test began.
    passed: AtomicI64,
    /// The milliseconds by which the wall clock was set forward.
    step: AtomicI64,
}

impl Clock for Host {
    fn unix_ms(&self) -> i64 {
        self.begun + self.passed.load(Ordering::Relaxed) + self.step.load(Ordering::Relaxed)
    }

    fn since_boot_ms(&self) -> Option<i64> {
        Some(1_000_000 + self.passed.load(Ordering::Relaxed))
    }
}

impl Host {
    fn new() -> Arc<Self> {
        Arc::new(Self { begun: now(), passed: AtomicI64::new(0), step: AtomicI64::new(0) })
    }

    fn set(&self, passed: i64, step: i64) {
        self.passed.store(passed, Ordering::Relaxed);
        self.step.store(step, Ordering::Relaxed);
    }

    /// Opens the file as another process would.
    fn connect(self: &Arc<Self>, store: &Sqlite) -> Box<dyn Store> {
        connect_with(&store.url(), &(Arc::clone(self) as Arc<dyn Clock>)).unwrap()
    }

    fn acquire(self: &Arc<Self>, store: &Sqlite, node: u64) -> Result<Grant, Fault> {
        let request = Acquire { now: self.unix_ms(), ..request(node) };
        operations::acquire(&mut *self.connect(store), SPACE, &request)
    }

    /// Renews a grant for a window from the present tick of the host's clock.
    fn renew(self: &Arc<Self>, store: &Sqlite, grant: &mut Grant) -> Result<Renewed, Fault> {
        let next = Token::from_bits(grant.token.to_bits() + 1);
        let wanted = Layout::TWITTER.tick_at(self.unix_ms()).unwrap() + 10_000;
        let (start, confirmed, now) = (grant.start, grant.fence, self.unix_ms());
        let (node, token, ttl_ms, waited_ms) = (grant.node, grant.token, 60_000, 0);
        let request = Renew { node, start, token, next, confirmed, wanted, ttl_ms, now, waited_ms };
        let renewed = operations::renew(&mut *self.connect(store), SPACE, &request)?;
        (grant.token, grant.fence) = (next, renewed.fence);
        Ok(renewed)
    }
}

/// Checks that a request is refused because of a step by 8 h, and returns the milliseconds to wait.
fn refused<T: std::fmt::Debug>(answer: Result<T, Fault>) -> u64 {
    match answer {
        Err(Fault::Refused(Refusal::ClockStep { by_ms: HOURS_8, retry_after_ms })) => {
            retry_after_ms
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn step_that_is_undone_changes_no_row() {
    let (store, host) = (Sqlite::new(), Host::new());
    let mut grant = host.acquire(&store, 1).unwrap();
    host.set(1_000, HOURS_8);
    assert_eq!(refused(host.renew(&store, &mut grant)), 10_000);
    assert_eq!(refused(host.acquire(&store, 2)), 10_000);
    host.set(4_000, HOURS_8);
    assert_eq!(refused(host.renew(&store, &mut grant)), 7_000);
    host.set(4_000, 0);
    let renewed = host.renew(&store, &mut grant).unwrap();
    let highest = Layout::TWITTER.tick_at(host.unix_ms()).unwrap() + 10_000;
    assert!(renewed.fence <= highest, "{renewed:?}");
    assert!(renewed.expires <= host.unix_ms() + 60_000, "{renewed:?}");
    assert!(host.acquire(&store, 2).unwrap().fence <= highest);
    // The next step does not count from the first one.
    host.set(20_000, HOURS_8);
    assert_eq!(refused(host.renew(&store, &mut grant)), 10_000);
}

#[test]
fn step_that_lasts_for_a_window_is_followed() {
    let (store, host) = (Sqlite::new(), Host::new());
    let mut grant = host.acquire(&store, 1).unwrap();
    host.set(1_000, HOURS_8);
    assert_eq!(refused(host.renew(&store, &mut grant)), 10_000);
    host.set(10_999, HOURS_8);
    assert_eq!(refused(host.acquire(&store, 2)), 1);
    host.set(11_000, HOURS_8);
    host.renew(&store, &mut grant).unwrap();
    host.acquire(&store, 2).unwrap();
}

#[test]
fn clock_that_a_program_provides_may_be_set() {
    let (store, host) = (Sqlite::new(), Host::new());
    host.acquire(&store, 1).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(flakeid_core::ManualClock::new(now() + HOURS_8));
    let request = Acquire { now: clock.unix_ms(), ..request(2) };
    operations::acquire(&mut *connect_with(&store.url(), &clock).unwrap(), SPACE, &request)
        .unwrap();
}
