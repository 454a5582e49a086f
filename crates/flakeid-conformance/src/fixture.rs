use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::log::Log;
use flakeid_protocol::operations::{self, BlockRenewal, BlockRenewed, Listing, Repair};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{
    Acquire, Bounds, Grant, Identity, Namespace, Owner, Refusal, Release, Renew, Renewed, Token,
};

/// The longest time to wait for an expected event. A store that detects conflicts commits only one request in each
/// round of attempts. On a busy machine, 64 simultaneous acquire requests can therefore take a minute.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The longest pause before a client retries a request to an unavailable store.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A test's namespace, with a log of everything that the store confirmed about the namespace.
pub(super) struct Fixture<'a> {
    under_test: &'a dyn StoreUnderTest,
    pub(super) namespace: Namespace,
    /// The error of the clients' clocks, in milliseconds.
    pub(super) clock_error_ms: i64,
    log: Mutex<Log>,
}

impl<'a> Fixture<'a> {
    /// Creates a namespace with the default bounds.
    pub(super) fn new(under_test: &'a dyn StoreUnderTest, name: &str) -> Self {
        Self::with_namespace(under_test, &Namespace::new(&fresh_name(name), Layout::TWITTER))
    }

    /// Creates a namespace that grants nodes again a few seconds after a restore.
    pub(super) fn with_short_bounds(under_test: &'a dyn StoreUnderTest, name: &str) -> Self {
        Self::with_short_bounds_for(under_test, name, Layout::TWITTER)
    }

    /// Creates a namespace with the given layout and short bounds.
    pub(super) fn with_short_bounds_for(
        under_test: &'a dyn StoreUnderTest,
        name: &str,
        layout: Layout,
    ) -> Self {
        // The bounds allow for a store clock that shows only whole seconds and is therefore up to one second
        // behind.
        let bounds =
            Bounds { max_window_ms: 300, max_ahead_ms: 200, max_skew_ms: 1500, quiet_ms: 3_400 };
        let new = Namespace::new(&fresh_name(name), layout);
        Self::with_namespace(under_test, &Namespace { bounds, ..new })
    }

    pub(super) fn with_namespace(under_test: &'a dyn StoreUnderTest, wanted: &Namespace) -> Self {
        let namespace = eventually("a namespace", || {
            match operations::init(&mut *under_test.connect(), wanted) {
                Ok(namespace) => Some(namespace),
                Err(Fault::Unavailable(text)) => {
                    println!("  retrying after: {text}");
                    None
                }
                Err(fault) => panic!("{fault:?}"),
            }
        });
        Self { under_test, namespace, clock_error_ms: 0, log: Mutex::default() }
    }

    pub(super) fn client(&self) -> Client<'_> {
        Client { fixture: self, store: self.under_test.connect() }
    }

    pub(super) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the instant at which a client's clock showed `client_now`. On a busy machine, a client can send its
    /// request seconds after this instant. Some tests use clocks that are wrong on purpose, by at least an hour or by
    /// less than half of `max_skew`. For these clocks, the result is the current instant.
    fn read_at(&self, client_now: i64) -> Instant {
        let age = self.now().saturating_sub(client_now);
        let least = i64::try_from(self.namespace.bounds.max_skew_ms / 2).unwrap_or(i64::MAX);
        let age = if (least..60_000).contains(&age) { age.cast_unsigned() } else { 0 };
        Instant::now().checked_sub(Duration::from_millis(age)).unwrap_or_else(Instant::now)
    }

    /// Builds an acquire request for any node, with a TTL of one minute. The window is the longest that the namespace
    /// allows, but at most 10 s.
    pub(super) fn request(&self) -> Acquire {
        Acquire { now: self.now(), ..request(&self.namespace) }
    }

    /// Returns the time of the clients' clocks, in Unix milliseconds.
    pub(super) fn now(&self) -> i64 {
        now() + self.clock_error_ms
    }

    /// Builds an acquire request for a fixed node.
    pub(super) fn request_node(&self, node: u64) -> Acquire {
        Acquire { identity: Identity::Node(node), ..self.request() }
    }

    /// Builds an acquire request for a fixed node, with the longest window that the namespace allows.
    pub(super) fn longest_request(&self, node: u64) -> Acquire {
        Acquire { window_ms: self.namespace.bounds.max_window_ms, ..self.request_node(node) }
    }

    /// Builds an acquire request for the node that the holder with the given name last held.
    pub(super) fn request_name(&self, name: &str) -> Acquire {
        let owner = Owner { name: name.into(), host: "test".into(), pid: 1 };
        Acquire { identity: Identity::Name(name.into()), owner, ..self.request() }
    }

    /// Returns the tick of the current time.
    pub(super) fn tick(&self) -> u64 {
        self.namespace.layout.tick_at(now()).expect("a tick")
    }

    /// Checks that windows are disjoint and that the store still contains every confirmed grant. Must not be called
    /// while a client is writing.
    pub(super) fn check_confirmed(&self) {
        let listing = self.client().list();
        self.log().check_disjoint();
        self.log().check_kept(&listing);
    }
}

/// A client's connection. Everything that the store confirms over the connection is recorded and
/// checked.
pub(super) struct Client<'a> {
    fixture: &'a Fixture<'a>,
    pub(super) store: Box<dyn Store>,
}

impl Client<'_> {
    /// Acquires a node. If the outcome is unknown, retries with a new token, as holders do.
    pub(super) fn acquire(&mut self, request: &Acquire) -> Result<Grant, Refusal> {
        let asked = Instant::now();
        let answer = self.persist(|store, namespace| {
            // Even a wrong clock must advance between attempts, as a real clock would.
            let client_now = request.now.saturating_add(asked.elapsed().as_millis() as i64);
            let request = Acquire { token: fresh_token(), now: client_now, ..request.clone() };
            operations::acquire_read_at(
                store,
                namespace,
                &request,
                self.fixture.read_at(client_now),
            )
        });
        if let Ok(grant) = &answer {
            self.fixture.log().record_grant(grant);
        }
        answer
    }

    /// Sends an acquire request once, and calls `meanwhile` between the store's first read and its write.
    pub(super) fn acquire_paused(
        &mut self,
        request: &Acquire,
        meanwhile: &mut (dyn FnMut() + Send),
    ) -> Result<Grant, Fault> {
        let mut paused = PausedStore { store: &mut *self.store, meanwhile: Some(meanwhile) };
        let answer = operations::acquire(&mut paused, &self.fixture.namespace.name, request);
        if let Ok(grant) = &answer {
            self.fixture.log().record_grant(grant);
        }
        answer
    }

    /// Sends an acquire request once.
    pub(super) fn acquire_once(&mut self, request: &Acquire) -> Result<Grant, Fault> {
        let name = &self.fixture.namespace.name;
        let read = self.fixture.read_at(request.now);
        operations::acquire_read_at(&mut *self.store, name, request, read)
    }

    /// Acquires a node, and panics if the store refuses the request.
    pub(super) fn grant(&mut self, request: &Acquire) -> Grant {
        self.acquire(request).unwrap_or_else(|refusal| panic!("{refusal:?} for {request:?}"))
    }

    /// Acquires a node, retrying after temporary refusals.
    pub(super) fn grant_in_time(&mut self, request: &Acquire) -> Grant {
        eventually("a grant", || {
            let request = Acquire { now: self.fixture.now(), ..request.clone() };
            let wait = match self.acquire(&request) {
                Ok(grant) => return Some(grant),
                Err(
                    Refusal::Restored { retry_after_ms }
                    | Refusal::FenceInFuture { retry_after_ms },
                ) => retry_after_ms,
                Err(Refusal::NoFreeNode { .. }) => 1,
                Err(refusal) => panic!("{refusal:?}"),
            };
            // The sleep is short, because the end of the wait depends on the store's clock rather than on this host's
            // clock.
            thread::sleep(Duration::from_millis(wait.clamp(1, 200)));
            None
        })
    }

    /// Renews a grant. If the outcome is unknown, sends the same request again.
    pub(super) fn renew(&mut self, request: &Renew) -> Result<Renewed, Refusal> {
        let read = self.fixture.read_at(request.now);
        let answer = self
            .persist(|store, namespace| operations::renew_read_at(store, namespace, request, read));
        if let Ok(renewed) = &answer {
            self.fixture.log().record_renewal(request, renewed);
        }
        answer
    }

    /// Renews a grant up to the tick `wanted`, and returns the renewed grant.
    pub(super) fn extend(&mut self, grant: &Grant, wanted: u64) -> Grant {
        let request = renewal(grant, wanted);
        let answer = self.renew(&request);
        let Renewed { fence, expires, .. } =
            answer.unwrap_or_else(|refusal| panic!("{refusal:?} for {request:?}"));
        assert!(fence >= wanted.max(grant.fence), "renewed only to {fence}: {request:?}");
        Grant { token: request.next, fence, expires, ..*grant }
    }

    /// Records the confirmed renewals of a batch.
    pub(super) fn record_renewals(&self, renewals: &[BlockRenewal], responses: &[BlockRenewed]) {
        for (renewal, response) in renewals.iter().zip(responses) {
            if let Ok((renewed, _)) = response {
                self.fixture.log().record_renewal(&renewal.request, renewed);
            }
        }
    }

    /// Sends a renewal once.
    pub(super) fn renew_once(&mut self, request: &Renew) -> Result<Renewed, Fault> {
        let name = &self.fixture.namespace.name;
        let read = self.fixture.read_at(request.now);
        operations::renew_read_at(&mut *self.store, name, request, read)
    }

    /// Releases a grant with its current token.
    pub(super) fn release(&mut self, grant: &Grant, used_until: u64) {
        let request = Release { node: grant.node, token: grant.token, used_until };
        self.release_as(&request);
        self.fixture.log().record_release(&request);
    }

    /// Sends a release without recording it. Tests call this function directly only for releases that must have no
    /// effect.
    pub(super) fn release_as(&mut self, request: &Release) {
        self.persist(|store, namespace| operations::release(store, namespace, request))
            .expect("releases are not refused");
    }

    pub(super) fn list(&mut self) -> Listing {
        let listing = self.persist(operations::list).expect("a listing");
        self.fixture.log().check_listing(&listing);
        listing
    }

    pub(super) fn repair(&mut self, node: u64, repair: Repair) -> bool {
        let row = self
            .persist(|store, namespace| operations::repair(store, namespace, node, repair))
            .expect("a repair");
        match repair {
            Repair::Quarantine => self.fixture.log().record_quarantine(node),
            Repair::Lift => self.fixture.log().record_lift(node),
            Repair::Release | Repair::ReleaseNow => {}
        }
        row.is_some()
    }

    /// Waits until the store's clock shows `unix_ms` or later.
    pub(super) fn wait_until(&mut self, unix_ms: i64) {
        eventually("the store's clock", || {
            let now = self.list().now;
            let left = unix_ms.saturating_sub(now).clamp(0, 200).unsigned_abs();
            thread::sleep(Duration::from_millis(left));
            (now >= unix_ms).then_some(())
        });
    }

    /// Replaces the connection, as holders do when a store does not respond.
    pub(super) fn reconnect(&mut self) {
        self.store = self.fixture.under_test.connect();
    }

    /// Repeats an operation until its outcome is known.
    pub(super) fn persist<T>(
        &mut self,
        mut operation: impl FnMut(&mut dyn Store, &str) -> Result<T, Fault>,
    ) -> Result<T, Refusal> {
        eventually("a response", || {
            match operation(&mut *self.store, &self.fixture.namespace.name) {
                Ok(result) => Some(Ok(result)),
                Err(Fault::Refused(refusal)) => Some(Err(refusal)),
                Err(Fault::Unavailable(text)) => {
                    println!("  retrying after: {text}");
                    // The client pauses for a random time, as holders do. Otherwise, 64 clients of a slow store would
                    // mostly conflict with each other.
                    let bits = fresh_token().to_bits();
                    thread::sleep(LONGEST_PAUSE.mul_f64(flakeid_protocol::random::fraction(bits)));
                    self.reconnect();
                    None
                }
                Err(fault) => panic!("{fault:?}"),
            }
        })
    }
}

/// A connection that calls a function once, between the reads and the write of a transaction.
struct PausedStore<'a> {
    store: &'a mut dyn Store,
    meanwhile: Option<&'a mut (dyn FnMut() + Send)>,
}

impl Store for PausedStore<'_> {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Self { store, meanwhile } = self;
        store.transact(namespace, &mut |ledger| {
            work(ledger)?;
            if let Some(call) = meanwhile.take() {
                call();
            }
            Ok(())
        })
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.store.prepare()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.store.namespaces()
    }
}

/// Repeats `attempt` until it returns a value.
pub(super) fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {TIMEOUT:?} for {what}");
    }
}

/// Builds an acquire request for any node, with a TTL of one minute. The window is the longest that the namespace
/// allows, but at most 10 s.
pub(super) fn request(namespace: &Namespace) -> Acquire {
    let layout = namespace.layout;
    Acquire {
        window_ms: namespace.bounds.max_window_ms.min(10_000),
        owner: Owner { name: String::new(), host: "test".into(), pid: 1 },
        ..Acquire::any_node(layout, fresh_token(), now())
    }
}

/// Builds a request that renews a grant up to the tick `wanted`.
pub(super) fn renewal(grant: &Grant, wanted: u64) -> Renew {
    let Grant { node, start, token, fence, .. } = *grant;
    Renew {
        node,
        start,
        token,
        next: fresh_token().of_grant(token),
        confirmed: fence,
        wanted,
        ttl_ms: 60_000,
        now: now(),
        waited_ms: 0,
    }
}

/// Returns the time of this host's clock, in Unix milliseconds.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_millis()).expect("a clock before the year 292 million")
}

pub(super) fn fresh_token() -> Token {
    Token::from_bits(u128::from(random()) << 64 | u128::from(random()))
}

/// Returns the given name with a random suffix, so that no other test on the same server uses the same name.
pub(super) fn fresh_name(name: &str) -> String {
    format!("{name}.{:016x}", random())
}

fn random() -> u64 {
    // Each `RandomState` has different random keys, so each hash is different.
    RandomState::new().build_hasher().finish()
}
