//! Helpers for the tests of all servers: connections, requests, checks of faults, and certificates.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Grant, Identity, Namespace, Owner, Renew, Token, operations};
use flakeid_stores::Location;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

pub(crate) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Location::parse(url).unwrap().connect(&clock)
}

/// Connects, and retries while the store is unavailable. A busy machine may not open 200 connections at once
/// within the timeout, and after a failover there may be no primary yet.
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

pub(crate) fn fresh_namespace(name: &str) -> Namespace {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    Namespace::new(&format!("{name}-{now}"), Layout::TWITTER)
}

pub(crate) fn token() -> Token {
    use std::hash::{BuildHasher, RandomState};
    let bits = |salt: u8| u128::from(RandomState::new().hash_one((salt, SystemTime::now())));
    Token::from_bits(bits(0) << 64 | bits(1))
}

/// The assumed age of the clock readings in requests. The clock is read once, and a busy machine may delay a
/// request by more than `max_skew`.
const OLDEST_READING_MS: u64 = 10_000;

pub(crate) fn request(namespace: &Namespace) -> Acquire {
    Acquire {
        layout: namespace.layout,
        identity: Identity::Any,
        from: 0,
        to: namespace.layout.max_node(),
        rotation: 0,
        block_bits: 0,
        reuse: true,
        token: token(),
        window_ms: namespace.bounds.max_window_ms.min(10_000),
        ttl_ms: 60_000,
        now: SystemClock.unix_ms(),
        waited_ms: OLDEST_READING_MS,
        after: 0,
        owner: Owner { name: String::new(), host: "test".into(), pid: 1 },
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

/// Checks that a store creates a namespace, and that acquire, renew and whois work.
pub(crate) fn leases(url: &str) {
    let mut store = connect(url).unwrap();
    let namespace = fresh_namespace("given");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    assert!(store.namespaces().unwrap().contains(name));
    let grant = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    let renewed = operations::renew(&mut *store, name, &renewal(&grant)).unwrap();
    assert_eq!(renewed.fence, grant.fence + 10);
    let holding = operations::whois(&mut *store, name, grant.node, grant.start).unwrap().unwrap();
    assert_eq!((holding.record.start, holding.fence), (grant.start, renewed.fence));
}

/// Checks that connecting to each URL fails with the given kind of fault and reason, and that no secret is shown.
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

/// An authority's certificate, and a certificate and key that it signed for a host, in PEM.
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
        // The authority has its own name, because OpenSSL treats a certificate whose issuer has the same name as
        // self-signed.
        params.distinguished_name.push(DnType::CommonName, "the authority");
        let own = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let host_key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.into()]).unwrap();
        let certificate = params.signed_by(&host_key, &issuer).unwrap().pem();
        Self { own, certificate, key: host_key.serialize_pem() }
    }
}
