//! Tests of the guarantees that a lessor gives its holders. A lessor is either a store or a broker that leases blocks
//! of nodes from a store.
//!
//! The test suite for stores checks far more. It also reads rows, requests specific nodes and restores copies, which a
//! broker does not support. The tests here cover grants, renewals, releases, names, clocks, layouts and races, and
//! require only the three requests of a [`Lessor`].

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{ErrorKind, Layout};

use super::log::Log;
use crate::fixture::{self, eventually, fresh_token, now, renewal};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Grant, Identity, Lessor, Namespace, Owner, Refusal, Release, Renew, Renewed,
};

/// A lessor under test.
///
/// ```
/// use flakeid_conformance::lessors::{self, LessorUnderTest};
/// use flakeid_core::Layout;
/// use flakeid_protocol::store::Store;
/// use flakeid_protocol::{Lessor, MemoryStore, Namespace, operations};
///
/// struct Memory(MemoryStore, Namespace);
///
/// impl LessorUnderTest for Memory {
///     fn connect(&self) -> Box<dyn Lessor> {
///         let store: Box<dyn Store> = Box::new(self.0.clone());
///         Box::new(store)
///     }
///
///     fn namespace(&self) -> &Namespace {
///         &self.1
///     }
/// }
///
/// let namespace = Namespace::new("orders", Layout::TWITTER);
/// let mut store = MemoryStore::new();
/// operations::init(&mut store, &namespace)?;
/// lessors::run(&Memory(store, namespace));
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
pub trait LessorUnderTest: Sync {
    /// Opens another connection, as another process would.
    fn connect(&self) -> Box<dyn Lessor>;

    /// The lessor's namespace. The namespace must have at least 64 nodes, allow windows of 400 ms, and have a
    /// `max_skew` of less than a minute.
    fn namespace(&self) -> &Namespace;
}

/// A test in the suite.
type Test = fn(&Fixture<'_>);

const TESTS: [(&str, Test); 10] = [
    ("grants_have_distinct_nodes", grants_have_distinct_nodes),
    ("window_starts_at_the_requested_tick", window_starts_at_the_requested_tick),
    ("renewals_with_stale_tokens_are_refused", renewals_with_stale_tokens_are_refused),
    ("repeated_renewal_is_applied_once", repeated_renewal_is_applied_once),
    ("renewals_never_lower_the_fence", renewals_never_lower_the_fence),
    ("release_requires_the_current_token", release_requires_the_current_token),
    ("named_holder_gets_its_last_node_again", named_holder_gets_its_last_node_again),
    ("acquire_refuses_wrong_clocks", acquire_refuses_wrong_clocks),
    ("acquire_refuses_another_layout", acquire_refuses_another_layout),
    ("windows_under_contention_are_disjoint", windows_under_contention_are_disjoint),
];

/// Runs every test and prints its name. After each test, checks that no two windows of a node overlap.
pub fn run(under_test: &dyn LessorUnderTest) {
    let fixture = Fixture { under_test, log: Mutex::default() };
    for (name, test) in TESTS {
        println!("conformance lessors::{name} ...");
        test(&fixture);
        fixture.log(|log| log.check_disjoint());
        println!("conformance lessors::{name} ... ok");
    }
}

const WINDOW_MS: u64 = 200;

struct Fixture<'a> {
    under_test: &'a dyn LessorUnderTest,
    /// A log of everything that the lessor confirmed in all tests. The tests share one namespace, so they also share
    /// the log.
    log: Mutex<Log>,
}

/// A client's connection to the lessor. Everything that the lessor confirms over the connection is recorded.
struct Client<'a> {
    fixture: &'a Fixture<'a>,
    lessor: Box<dyn Lessor>,
}

impl Fixture<'_> {
    fn client(&self) -> Client<'_> {
        Client { fixture: self, lessor: self.under_test.connect() }
    }

    fn namespace(&self) -> &Namespace {
        self.under_test.namespace()
    }

    fn log<T>(&self, note: impl FnOnce(&mut Log) -> T) -> T {
        note(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn request(&self) -> Acquire {
        Acquire { window_ms: WINDOW_MS, ..fixture::request(self.namespace()) }
    }

    /// Returns the kind of error that a holder would get for the given fault.
    fn kind(&self, fault: &Fault) -> ErrorKind {
        let Namespace { name, layout, .. } = self.namespace();
        fault.to_error("the lessor", name, layout).kind()
    }
}

impl Client<'_> {
    fn acquire(&mut self, request: &Acquire) -> Result<Grant, Fault> {
        let grant = self.lessor.acquire(&self.fixture.namespace().name, request, Instant::now())?;
        self.fixture.log(|log| log.record_grant(&grant));
        Ok(grant)
    }

    /// Acquires a node, retrying after retryable faults.
    fn grant(&mut self, request: &Acquire) -> Grant {
        eventually("a grant", || {
            let request = Acquire { token: fresh_token(), now: now(), ..request.clone() };
            match self.acquire(&request) {
                Ok(grant) => Some(grant),
                Err(fault) => {
                    let kind = self.fixture.kind(&fault);
                    assert!(kind.is_retryable(), "{fault:?} for {request:?}");
                    thread::sleep(Duration::from_millis(5));
                    None
                }
            }
        })
    }

    fn renew(&mut self, request: &Renew) -> Result<Renewed, Fault> {
        let request = Renew { now: now(), ..*request };
        let answer = self.lessor.renew(&self.fixture.namespace().name, &request, Instant::now())?;
        self.fixture.log(|log| log.record_renewal(&request, &answer));
        Ok(answer)
    }

    /// Renews a grant, requesting a fence that is `ticks` ticks higher. Returns the renewed grant.
    fn extend(&mut self, grant: &Grant, ticks: u64) -> Grant {
        let request = renewal(grant, grant.fence + ticks);
        let answer = self.renew(&request).unwrap_or_else(|fault| panic!("{fault:?}"));
        assert!(answer.fence > grant.fence, "{answer:?} after {grant:?}");
        Grant { token: request.next, fence: answer.fence, expires: answer.expires, ..*grant }
    }

    fn assert_fenced_off(&mut self, request: &Renew) {
        let answer = self.renew(request);
        assert!(matches!(answer, Err(Fault::Refused(Refusal::FencedOff))), "{answer:?}");
    }

    fn release(&mut self, grant: &Grant, used_until: u64) {
        let request = Release { node: grant.node, token: grant.token, used_until };
        self.release_as(&request);
        self.fixture.log(|log| log.record_release(&request));
    }

    /// Sends a release without recording it. Tests call this function directly only for releases that must have no
    /// effect.
    fn release_as(&mut self, request: &Release) {
        let released = self.lessor.release(&self.fixture.namespace().name, request);
        released.unwrap_or_else(|fault| panic!("{fault:?}"));
    }
}

fn grants_have_distinct_nodes(fixture: &Fixture<'_>) {
    let mut client = fixture.client();
    let grants: Vec<_> = (0..20).map(|_| client.grant(&fixture.request())).collect();
    let nodes: BTreeSet<_> = grants.iter().map(|grant| grant.node).collect();
    assert_eq!(nodes.len(), grants.len(), "{grants:?}");
    for grant in &grants {
        client.release(grant, grant.start + 1);
    }
}

fn window_starts_at_the_requested_tick(fixture: &Fixture<'_>) {
    let mut client = fixture.client();
    let tick = fixture.namespace().layout.tick_at(now()).expect("a tick");
    let after = tick + 50;
    let grant = client.grant(&Acquire { after, ..fixture.request() });
    assert!(grant.start >= after, "{grant:?} after {after}");
    client.release(&grant, grant.start);
}

fn renewals_with_stale_tokens_are_refused(fixture: &Fixture<'_>) {
    let (mut client, mut other) = (fixture.client(), fixture.client());
    let first = client.grant(&fixture.request());
    let second = client.extend(&first, 10);
    let third = client.extend(&second, 10);
    for stale in [first, second] {
        other.assert_fenced_off(&renewal(&stale, stale.fence + 100));
    }
    let guessed = Grant { token: fresh_token(), ..third };
    other.assert_fenced_off(&renewal(&guessed, third.fence + 1));
    let last = client.extend(&third, 10);
    client.release(&last, last.start + 1);
    client.assert_fenced_off(&renewal(&last, last.fence + 10));
}

fn repeated_renewal_is_applied_once(fixture: &Fixture<'_>) {
    let (mut client, mut other) = (fixture.client(), fixture.client());
    let grant = client.grant(&fixture.request());
    let request = renewal(&grant, grant.fence + 20);
    let answer = client.renew(&request).unwrap_or_else(|fault| panic!("{fault:?}"));
    // A holder that gets no response repeats the renewal unchanged.
    for client in [&mut other, &mut client] {
        for _ in 0..2 {
            let again = client.renew(&request).unwrap_or_else(|fault| panic!("{fault:?}"));
            assert_eq!(again.fence, answer.fence);
        }
    }
    let held = Grant { token: request.next, fence: answer.fence, ..grant };
    let last = client.extend(&held, 10);
    other.assert_fenced_off(&request);
    client.release(&last, last.start);
}

fn renewals_never_lower_the_fence(fixture: &Fixture<'_>) {
    let mut client = fixture.client();
    let grant = client.grant(&fixture.request());
    let mut held = client.extend(&grant, 30);
    for wanted in [0, held.start, held.fence - 1, held.fence] {
        let request = renewal(&held, wanted);
        let answer = client.renew(&request).unwrap_or_else(|fault| panic!("{fault:?}"));
        assert_eq!(answer.fence, held.fence, "the fence after a renewal to {wanted}");
        held.token = request.next;
    }
    client.release(&held, held.fence);
}

fn release_requires_the_current_token(fixture: &Fixture<'_>) {
    let (mut client, mut other) = (fixture.client(), fixture.client());
    let first = client.grant(&fixture.request());
    let held = client.extend(&first, 10);
    for token in [first.token, fresh_token()] {
        other.release_as(&Release { node: held.node, token, used_until: held.start });
    }
    let held = client.extend(&held, 10);
    // A second release of the same grant must have no effect.
    client.release(&held, held.start + 1);
    client.release_as(&Release { node: held.node, token: held.token, used_until: held.start });
}

fn named_holder_gets_its_last_node_again(fixture: &Fixture<'_>) {
    let mut client = fixture.client();
    let owner = Owner { name: "conformance".into(), host: "test".into(), pid: 1 };
    let identity = Identity::Name(owner.name.clone());
    let named = Acquire { identity, owner, ..fixture.request() };
    let first = client.grant(&named);
    client.release(&first, first.start + 1);
    let other = client.grant(&fixture.request());
    let again = client.grant(&named);
    assert!(again.node == first.node || other.node == first.node, "{first:?} {other:?} {again:?}");
    assert_ne!(again.node, other.node);
    for grant in [other, again] {
        client.release(&grant, grant.start + 1);
    }
}

fn acquire_refuses_wrong_clocks(fixture: &Fixture<'_>) {
    let mut client = fixture.client();
    let held = client.grant(&fixture.request());
    for wrong in [-3_600_000, 3_600_000] {
        let now = now() + wrong;
        let fault = client.acquire(&Acquire { now, ..fixture.request() }).unwrap_err();
        assert_eq!(fixture.kind(&fault), ErrorKind::ClockSkew, "{fault:?}");
    }
    let held = client.extend(&held, 10);
    client.release(&held, held.start + 1);
}

fn acquire_refuses_another_layout(fixture: &Fixture<'_>) {
    let mut client = fixture.client();
    let other = Layout::SONYFLAKE;
    assert_ne!(fixture.namespace().layout, other);
    let request = Acquire { layout: other, to: other.max_node(), ..fixture.request() };
    let fault = client.acquire(&request).unwrap_err();
    assert_eq!(fixture.kind(&fault), ErrorKind::StoreRejected, "{fault:?}");
}

/// Checks that windows are disjoint when eight clients acquire, renew, release and abandon nodes at the same time.
fn windows_under_contention_are_disjoint(fixture: &Fixture<'_>) {
    thread::scope(|scope| {
        for worker in 0..8 {
            scope.spawn(move || {
                let mut client = fixture.client();
                for round in 0..25 {
                    let brief = Acquire { window_ms: 20, ttl_ms: 1, ..fixture.request() };
                    let grant = client.grant(&brief);
                    let request = Renew { ttl_ms: 1, ..renewal(&grant, grant.fence + 10) };
                    match client.renew(&request) {
                        Ok(_) | Err(Fault::Refused(Refusal::FencedOff)) => {}
                        // If a renewal requests ticks above the block's fence or beyond `max_ahead`, the broker returns
                        // a retryable error.
                        Err(fault) => {
                            assert!(fixture.kind(&fault).is_retryable(), "{fault:?}");
                        }
                    }
                    if (worker + round) % 3 == 0 {
                        let held = client.grant(&Acquire { ttl_ms: 60_000, ..brief });
                        client.release(&held, held.start + 7);
                    }
                }
            });
        }
    });
}
