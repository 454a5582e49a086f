//! Helpers for the tests of all database servers: connections, requests, fault checks and certificates.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::store::{Continuity, Fault, Store};
use flakeid_protocol::{Acquire, Grant, Namespace, Owner, Refusal, Renew, Renewed, Token};
use flakeid_stores::Location;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::operations::{self, Listing};

pub(crate) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Location::parse(url).unwrap().connect(&clock)
}

/// Connects to a store, and retries for up to two minutes if connecting fails. A busy machine may fail to open 200
/// connections within the timeout, and a failover may leave the store without a primary for a while.
pub(crate) fn eventually_connect(url: &str) -> Box<dyn Store> {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        match connect(url) {
            Ok(store) => return store,
            Err(fault) => assert!(Instant::now() < deadline, "{fault}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A connection to a store, and the namespace that a test uses.
pub(crate) struct Client {
    pub(crate) store: Box<dyn Store>,
    pub(crate) namespace: Namespace,
}

impl Client {
    /// Connects to the store, and creates a new namespace.
    pub(crate) fn new(url: &str, name: &str) -> Self {
        Self::with(url, fresh_namespace(name))
    }

    /// Connects to the store, and creates the given namespace.
    pub(crate) fn with(url: &str, namespace: Namespace) -> Self {
        Self::on(eventually_connect(url), namespace)
    }

    /// Creates the given namespace through an existing connection.
    pub(crate) fn on(mut store: Box<dyn Store>, namespace: Namespace) -> Self {
        operations::init(&mut *store, &namespace).unwrap();
        Self { store, namespace }
    }

    /// Replaces the connection.
    pub(crate) fn reconnect(&mut self, url: &str) {
        self.store = eventually_connect(url);
    }

    /// Returns a request for any node.
    pub(crate) fn request(&self) -> Acquire {
        request(&self.namespace)
    }

    pub(crate) fn acquire(&mut self) -> Result<Grant, Fault> {
        self.acquire_as(&self.request())
    }

    pub(crate) fn acquire_as(&mut self, request: &Acquire) -> Result<Grant, Fault> {
        operations::acquire(&mut *self.store, &self.namespace.name, request)
    }

    pub(crate) fn renew(&mut self, grant: &Grant) -> Result<Renewed, Fault> {
        operations::renew(&mut *self.store, &self.namespace.name, &renewal(grant))
    }

    pub(crate) fn list(&mut self) -> Result<Listing, Fault> {
        operations::list(&mut *self.store, &self.namespace.name)
    }

    pub(crate) fn adopt(&mut self) -> Namespace {
        operations::adopt(&mut *self.store, &self.namespace.name).unwrap()
    }

    /// Checks that the store detects and records a restore, and that new windows start above the last grant.
    #[track_caller]
    pub(crate) fn assert_restored_above(&mut self, last: &Grant) -> Listing {
        self.assert_restored();
        let listing = self.list().unwrap();
        assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
        assert!(listing.namespace.floor >= last.fence, "new windows start above the last one");
        listing
    }

    /// Checks that the store refuses to grant a node because of a restore.
    #[track_caller]
    pub(crate) fn assert_restored(&mut self) {
        let refused = self.acquire();
        assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    }
}

pub(crate) fn fresh_namespace(name: &str) -> Namespace {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    Namespace::new(&format!("{name}-{now}"), Layout::TWITTER)
}

pub(crate) fn token() -> Token {
    use std::hash::{BuildHasher, RandomState};
    let bits = |salt: u8| u128::from(RandomState::new().hash_one((salt, SystemTime::now())));
    Token::from_bits(bits(0) << 64 | bits(1))
}

/// The age that each request reports for its clock reading, in milliseconds. The age is large, because a busy machine
/// may delay a request by more than `max_skew` after the test has read the clock.
const OLDEST_READING_MS: u64 = 10_000;

pub(crate) fn request(namespace: &Namespace) -> Acquire {
    Acquire {
        window_ms: namespace.bounds.max_window_ms.min(10_000),
        waited_ms: OLDEST_READING_MS,
        owner: Owner { name: String::new(), host: "test".into(), pid: 1 },
        ..Acquire::any_node(namespace.layout, token(), SystemClock.unix_ms())
    }
}

pub(crate) fn renewal(grant: &Grant) -> Renew {
    let Grant { node, start, token: current, .. } = *grant;
    let wanted = grant.fence + 10;
    let next = token().of_grant(current);
    let confirmed = grant.fence;
    let (ttl_ms, now, waited_ms) = (60_000, SystemClock.unix_ms(), OLDEST_READING_MS);
    Renew { node, start, token: current, next, confirmed, wanted, ttl_ms, now, waited_ms }
}

/// Checks that a store can create a namespace, grant and renew a lease, and find the holder of an ID.
pub(crate) fn leases(url: &str) {
    let mut client = Client::new(url, "given");
    let names = client.store.namespaces().unwrap();
    assert!(names.contains(&client.namespace.name));
    let grant = client.acquire().unwrap();
    let renewed = client.renew(&grant).unwrap();
    assert_eq!(renewed.fence, grant.fence + 10);
    let (store, name) = (&mut *client.store, &client.namespace.name);
    let holding = operations::whois(store, name, grant.node, grant.start).unwrap().unwrap();
    assert_eq!((holding.record.start, holding.fence), (grant.start, renewed.fence));
}

/// Checks that connecting to each URL fails with the given reason, and that no error reveals a secret. The boolean in
/// each case states whether the fault must be [`Fault::Unavailable`].
pub(crate) fn check_faults(cases: &[(String, bool, &str)], secrets: &[&str]) {
    for (url, unavailable, reason) in cases {
        let fault = connect(url).map(drop).unwrap_err();
        assert_eq!(matches!(fault, Fault::Unavailable(_)), *unavailable, "{url}: {fault:?}");
        let text = format!("{fault} {fault:?}");
        assert!(text.contains(reason), "{url}: {text}");
        for secret in secrets {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

/// The certificate of a certificate authority, and a host's key with a certificate signed by that authority. All fields
/// are in PEM format.
pub(crate) struct Authority {
    pub(crate) own: String,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn for_host(host: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // The authority and the host need different names, because OpenSSL treats a certificate as self-signed if its
        // issuer and its subject have the same name.
        params.distinguished_name.push(DnType::CommonName, "the authority");
        let own = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let host_key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.into()]).unwrap();
        let certificate = params.signed_by(&host_key, &issuer).unwrap().pem();
        Self { own, certificate, key: host_key.serialize_pem() }
    }
}
