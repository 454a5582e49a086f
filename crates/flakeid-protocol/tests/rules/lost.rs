//! Tests of namespaces that a store lost and that an operator created again, usually with different bounds.

use flakeid_core::{Layout, ManualClock};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Bounds, Grant, Identity, MemoryStore, Namespace, Refusal, Renew, Token, operations,
};

use crate::{EPOCH, SPACE};

const HOUR_MS: u64 = 3_600_000;
const LAYOUT: Layout = Layout::TWITTER;

/// A store, and a manual clock that the store shares with its clients.
struct Fixture {
    store: MemoryStore,
    clock: ManualClock,
    tokens: u128,
}

impl Fixture {
    fn new() -> Self {
        let clock = ManualClock::new(EPOCH);
        Self { store: MemoryStore::on(clock.clone()), clock, tokens: 0 }
    }

    fn now(&self) -> i64 {
        flakeid_core::Clock::unix_ms(&self.clock)
    }

    fn pass(&self, ms: u64) {
        self.clock.set(self.now() + i64::try_from(ms).unwrap());
    }

    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token::from_bits(self.tokens)
    }

    /// Acquires node 1 with a window of the given length.
    fn acquire(&mut self, window_ms: u64) -> Result<Grant, Refusal> {
        let request = Acquire {
            identity: Identity::Node(1),
            window_ms,
            ..Acquire::any_node(LAYOUT, self.token(), self.now())
        };
        match operations::acquire(&mut self.store, SPACE, &request) {
            Ok(grant) => Ok(grant),
            Err(Fault::Refused(refusal)) => Err(refusal),
            Err(fault) => panic!("{fault:?}"),
        }
    }

    /// Creates the namespace with the given bounds, and leases node 1 as far ahead as the bounds allow.
    fn lease_far(&mut self, bounds: Bounds) -> Grant {
        let wanted = Namespace { bounds, ..Namespace::new(SPACE, LAYOUT) };
        operations::init(&mut self.store, &wanted).unwrap();
        let grant = self.acquire(bounds.max_window_ms).unwrap();
        let reach = bounds.max_window_ms + bounds.max_ahead_ms + bounds.max_skew_ms;
        let renew = Renew {
            node: grant.node,
            start: grant.start,
            token: grant.token,
            next: self.token(),
            confirmed: grant.fence,
            wanted: LAYOUT.tick_at(self.now()).unwrap() + reach,
            ttl_ms: 60_000,
            now: self.now(),
            waited_ms: 0,
        };
        let renewed = operations::renew(&mut self.store, SPACE, &renew).unwrap();
        Grant { fence: renewed.fence, ..grant }
    }

    /// Deletes all data in the store, and recreates the namespace with the bounds `new`. `lost` contains the bounds
    /// of the lost namespace.
    fn lose(&mut self, lost: Bounds, new: Bounds) -> Namespace {
        self.store.restore(MemoryStore::new().backup());
        let wanted = Namespace { bounds: new, ..Namespace::new(SPACE, LAYOUT) };
        operations::create(&mut self.store, &wanted, Some(&lost)).unwrap().0
    }

    /// Tries every second to acquire node 1. Returns the first grant, and the number of seconds until that grant.
    fn first_grant(&mut self) -> (Grant, u64) {
        for seconds in 0..100_000 {
            match self.acquire(10_000) {
                Ok(grant) => return (grant, seconds),
                Err(Refusal::FenceInFuture { .. } | Refusal::Restored { .. }) => self.pass(1000),
                Err(refusal) => panic!("{refusal:?}"),
            }
        }
        panic!("the store granted nothing")
    }
}

/// Checks that a namespace recreated with the default bounds grants no ticks that belong to a holder in the lost
/// namespace. The lost namespace allowed one-hour windows.
#[test]
fn namespace_recreated_with_smaller_bounds_keeps_the_longer_wait() {
    let mut fixture = Fixture::new();
    let defaults = Bounds::of(&LAYOUT);
    let lost = Bounds { max_window_ms: HOUR_MS, ..defaults };
    let held = fixture.lease_far(lost);
    assert!(held.fence > held.start + HOUR_MS);
    let made = fixture.lose(lost, defaults);
    let (grant, waited_s) = fixture.first_grant();
    assert!(
        grant.start >= held.fence,
        "granted after {waited_s} s: ticks {}..{} of node 1, which the first process may use up to {}",
        grant.start,
        grant.fence,
        held.fence,
    );
    assert!(made.floor >= held.fence);
    // The expected wait is an hour plus three times `max_skew`. The range allows a few seconds more.
    assert!((3_600..=3_611).contains(&waited_s), "{waited_s}");
}

/// Checks that a recreated namespace respects each bound of the lost namespace.
#[test]
fn recreated_namespace_respects_each_bound_of_the_lost_namespace() {
    let defaults = Bounds::of(&LAYOUT);
    for lost in [
        Bounds { max_window_ms: HOUR_MS, ..defaults },
        Bounds { max_ahead_ms: HOUR_MS, ..defaults },
        Bounds { max_skew_ms: HOUR_MS, ..defaults },
    ] {
        let mut fixture = Fixture::new();
        let held = fixture.lease_far(lost);
        let made = fixture.lose(lost, defaults);
        assert_eq!(made.bounds, defaults);
        let (grant, _) = fixture.first_grant();
        assert!(made.floor >= held.fence && grant.start >= held.fence, "{lost:?} {grant:?}");
    }
}

/// Checks that a namespace recreated with larger bounds grants no ticks that belong to a holder in the lost
/// namespace.
#[test]
fn namespace_recreated_with_larger_bounds_keeps_windows_disjoint() {
    let mut fixture = Fixture::new();
    let defaults = Bounds::of(&LAYOUT);
    let held = fixture.lease_far(defaults);
    let new = Bounds { max_ahead_ms: HOUR_MS, ..defaults };
    assert!(fixture.lose(defaults, new).floor >= held.fence);
    let (grant, _) = fixture.first_grant();
    assert!(grant.start >= held.fence);
}

/// Checks that the grant of a lost namespace cannot be renewed in the recreated namespace.
#[test]
fn renew_rejects_tokens_of_a_lost_namespace() {
    let mut fixture = Fixture::new();
    let defaults = Bounds::of(&LAYOUT);
    let held = fixture.lease_far(defaults);
    fixture.lose(defaults, defaults);
    let Grant { node, start, token, fence, .. } = held;
    let renew = Renew {
        node,
        start,
        token,
        next: fixture.token(),
        confirmed: fence,
        wanted: fence,
        ttl_ms: 60_000,
        now: fixture.now(),
        waited_ms: 0,
    };
    let refused = operations::renew(&mut fixture.store, SPACE, &renew);
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
}
