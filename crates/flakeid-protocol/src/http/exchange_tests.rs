//! Tests that each request goes to the right broker, and that each kind of response has the right effect.

use flakeid_core::{Clock, ErrorKind, SystemClock};
use serde_json::{Value, json};

use super::super::json::GrantJson;
use super::*;
use crate::{Acquire, Identity, Owner, Release, Renew, Token};

const TOKEN: Token = Token::from_bits(7 << 64 | 7);

/// Returns brokers at the given hosts, which receive requests in the given order.
fn brokers(hosts: &[&str]) -> Brokers {
    let url = format!("http://:secret@{}", hosts.join(","));
    Brokers::read(&url, None, 0.0).unwrap().0
}

fn acquire() -> Acquire {
    Acquire {
        layout: Layout::TWITTER,
        block_bits: 0,
        identity: Identity::Any,
        from: 0,
        to: Layout::TWITTER.max_node(),
        rotation: 0,
        reuse: true,
        token: TOKEN,
        window_ms: 10_000,
        ttl_ms: 60_000,
        now: SystemClock.unix_ms(),
        waited_ms: 0,
        after: 0,
        owner: Owner::default(),
    }
}

fn demand(instead_of: Option<u64>) -> Demand {
    Demand::Acquire { request: acquire(), instead_of }
}

fn renew(node: u64, confirmed: u64) -> Demand {
    Demand::Renew(Renew {
        node,
        start: confirmed - 4_000,
        token: TOKEN,
        next: Token::from_bits(7 << 64 | 8),
        confirmed,
        wanted: confirmed + 4_000,
        ttl_ms: 60_000,
        now: SystemClock.unix_ms(),
        waited_ms: 0,
    })
}

/// Returns the JSON response with which the broker at an address grants a node.
fn grant(node: u64, broker: &str) -> Value {
    let start = Layout::TWITTER.tick_at(SystemClock.unix_ms()).unwrap();
    let granted = Grant {
        node,
        start,
        fence: start + 4_000,
        token: TOKEN,
        max_ahead_ms: 20_000,
        max_window_ms: 4_000,
        expires: SystemClock.unix_ms() + 12_000,
    };
    serde_json::to_value(GrantJson::new(&granted, broker, &Layout::TWITTER)).unwrap()
}

#[allow(clippy::unnecessary_wraps, reason = "one of the things that can come back")]
fn ok(body: &Value) -> Result<HttpAnswer, String> {
    Ok(HttpAnswer { status: 200, body: body.to_string().into_bytes() })
}

fn error(status: u16, code: &str) -> Result<HttpAnswer, String> {
    error_with(status, &json!({ "code": code, "message": code.to_lowercase() }))
}

#[allow(clippy::unnecessary_wraps, reason = "one of the things that can come back")]
fn error_with(status: u16, error: &Value) -> Result<HttpAnswer, String> {
    Ok(HttpAnswer { status, body: json!({ "error": error }).to_string().into_bytes() })
}

fn no_answer() -> Result<HttpAnswer, String> {
    Err("connection refused".into())
}

/// Returns responses that do not grant a node: refusals, faults, and responses from servers that are not brokers.
fn failures() -> Vec<Result<HttpAnswer, String>> {
    let page = |status, body: &str| Ok(HttpAnswer { status, body: body.into() });
    let mut other_token = grant(1, "http://a:1");
    other_token["token"] = json!(Token::from_bits(9).to_text());
    vec![
        error(503, "FLAKEID_STORE_UNAVAILABLE"),
        error(503, "FLAKEID_NO_FREE_NODE"),
        error(503, "FLAKEID_FENCE_IN_FUTURE"),
        error(409, "FLAKEID_CLOCK_SKEW"),
        error(409, "FLAKEID_STORE_REJECTED"),
        error(400, "FLAKEID_INVALID_OPTION"),
        error(429, "HTTP_TOO_MANY_REQUESTS"),
        error(500, "HTTP_INTERNAL"),
        error(401, "HTTP_UNAUTHORIZED"),
        error(404, "HTTP_NOT_FOUND"),
        error(404, "not_found"),
        page(404, "default backend - 404"),
        page(403, "{}"),
        page(302, ""),
        page(200, ""),
        page(200, "<h1>It works!</h1>"),
        page(200, "{}"),
        page(204, ""),
        ok(&other_token),
        no_answer(),
    ]
}

/// Runs an exchange until it returns a reply. Returns the reply and the addresses that received a request.
fn run(
    brokers: &mut Brokers,
    demand: Demand,
    mut answer: impl FnMut(&HttpRequest) -> Result<HttpAnswer, String>,
) -> (Result<Reply, Fault>, Vec<String>) {
    let mut exchange = Exchange::new(brokers, "default", demand, true).unwrap();
    let mut asked = Vec::new();
    loop {
        let request = exchange.request(brokers, Duration::ZERO).unwrap();
        let path = request.url.find("/v1/default/leases").unwrap();
        asked.push(request.url[..path].to_owned());
        assert_eq!(request.authorization.as_deref(), Some("Bearer secret"));
        if let Some(reply) = exchange.answered(brokers, answer(&request)) {
            return (reply, asked);
        }
    }
}

/// Simulates a grant by the broker at an address, and returns the fence.
fn granted(brokers: &mut Brokers, asked: &str, node: u64, name: &str) -> u64 {
    let (reply, _) = run(brokers, demand(None), |request| {
        if request.url.starts_with(asked) { ok(&grant(node, name)) } else { no_answer() }
    });
    match reply.unwrap() {
        Reply::Granted(grant, _) => grant.fence,
        reply => panic!("{reply:?}"),
    }
}

#[test]
fn failed_acquire_is_retried_at_the_next_broker() {
    for failure in failures() {
        let mut brokers = brokers(&["a:1", "b:1"]);
        let (reply, asked) = run(&mut brokers, demand(None), |request| {
            if request.url.starts_with("http://a:1") {
                failure.clone()
            } else {
                ok(&grant(3, "http://b:1"))
            }
        });
        assert!(matches!(reply, Ok(Reply::Granted(Grant { node: 3, .. }, _))), "{failure:?}");
        assert_eq!(asked, ["http://a:1", "http://b:1"], "{failure:?}");
        assert_eq!(brokers.order(), ["http://b:1", "http://a:1"], "{failure:?}");
    }
}

#[test]
fn second_acquire_round_gives_unresponsive_brokers_more_time() {
    let mut brokers = brokers(&["a:1", "b:1", "c:1"]);
    let mut timeouts = Vec::new();
    let (reply, asked) = run(&mut brokers, demand(None), |request| {
        timeouts.push(request.timeout);
        if request.url.starts_with("http://b:1") {
            error(503, "FLAKEID_NO_FREE_NODE")
        } else {
            no_answer()
        }
    });
    let ab = ["http://a:1", "http://b:1", "http://c:1", "http://a:1", "http://c:1"];
    assert_eq!(asked, ab);
    assert_eq!(timeouts[..3], [FIRST_ROUND_TIMEOUT; 3]);
    assert_eq!(timeouts[3..], [ACQUIRE_TIMEOUT; 2]);
    assert!(reply.is_err());

    let mut timeouts = Vec::new();
    let (_, asked) = run(&mut self::brokers(&["a:1"]), demand(None), |request| {
        timeouts.push(request.timeout);
        no_answer()
    });
    assert_eq!((asked.len(), timeouts), (1, vec![ACQUIRE_TIMEOUT]), "a single broker");
}

#[test]
fn acquire_reports_the_failure_with_the_earliest_retry_time() {
    let full = |ms: u64| {
        let message = "no free node";
        let code = "FLAKEID_NO_FREE_NODE";
        error_with(503, &json!({ "code": code, "message": message, "retry_after_ms": ms }))
    };
    let rejected = || error(409, "FLAKEID_STORE_REJECTED");
    let kind_of = |one: Result<HttpAnswer, String>, other: Result<HttpAnswer, String>| {
        let (reply, _) = run(&mut brokers(&["a:1", "b:1"]), demand(None), |request| {
            if request.url.starts_with("http://a:1") { one.clone() } else { other.clone() }
        });
        let error = reply.unwrap_err().to_error("the brokers", "default", &Layout::TWITTER);
        let text = error.to_string();
        assert!(text.contains("http://a:1: ") && text.contains("http://b:1: "), "{text}");
        error.kind()
    };
    for (one, other, kind) in [
        (rejected(), full(9_000), ErrorKind::NoFreeNode),
        (full(9_000), rejected(), ErrorKind::NoFreeNode),
        (full(9_000), no_answer(), ErrorKind::StoreUnavailable),
        (rejected(), no_answer(), ErrorKind::StoreUnavailable),
        (full(100), no_answer(), ErrorKind::NoFreeNode),
        (error(409, "FLAKEID_CLOCK_SKEW"), full(9_000), ErrorKind::NoFreeNode),
        (rejected(), error(401, "HTTP_UNAUTHORIZED"), ErrorKind::StoreRejected),
    ] {
        assert_eq!(kind_of(one, other), kind);
    }
}

#[test]
fn renewal_is_sent_only_to_the_granting_broker() {
    for failure in failures() {
        let mut brokers = brokers(&["a:1", "b:1"]);
        let fence = granted(&mut brokers, "http://a:1", 3, "http://a:1");
        let (reply, asked) = run(&mut brokers, renew(3, fence), |_| failure.clone());
        assert_eq!(asked, ["http://a:1"], "{failure:?}");
        let fault = reply.unwrap_err();
        assert_ne!(fault, Fault::Refused(Refusal::FencedOff), "{failure:?}");
        // The node is not lost: the next renewal goes to the same broker.
        let (_, asked) = run(&mut brokers, renew(3, fence), |_| failure.clone());
        assert_eq!(asked, ["http://a:1"], "{failure:?}");
    }
}

#[test]
fn renewal_prefers_the_broker_address_that_last_responded() {
    let mut brokers = brokers(&["proxy:1", "pod-1:1"]);
    let fence = granted(&mut brokers, "http://proxy:1", 3, "http://pod-1:1");
    let renewed = json!({ "fence": fence + 4_000, "expires": 0, "renewed": 0 });
    let answer = |request: &HttpRequest| {
        if request.url.starts_with("http://pod-1:1") { no_answer() } else { ok(&renewed) }
    };
    let (reply, asked) = run(&mut brokers, renew(3, fence), answer);
    assert!(matches!(reply, Ok(Reply::Renewed(_))), "{reply:?}");
    assert_eq!(asked, ["http://pod-1:1", "http://proxy:1"]);
    let (_, asked) = run(&mut brokers, renew(3, fence), answer);
    assert_eq!(asked, ["http://proxy:1"], "it answered before");
}

#[test]
fn node_is_fenced_off_when_its_broker_is_replaced() {
    let mut brokers = brokers(&["proxy:1", "pod-1:1"]);
    let fence = granted(&mut brokers, "http://proxy:1", 3, "http://pod-1:1");
    // The proxy may forward requests to other brokers, so their responses do not prove that the granter is gone.
    let (reply, asked) = run(&mut brokers, renew(3, fence), |request| {
        if request.url.starts_with("http://pod-1:1") {
            no_answer()
        } else {
            error(421, "HTTP_MISDIRECTED")
        }
    });
    assert!(matches!(reply, Err(Fault::Unavailable(_))), "{reply:?}");
    assert_eq!(asked.len(), 2);
    let (reply, asked) = run(&mut brokers, renew(3, fence), |_| error(421, "HTTP_MISDIRECTED"));
    assert_eq!(reply.unwrap_err(), Fault::Refused(Refusal::FencedOff));
    assert_eq!(asked, ["http://pod-1:1"]);
}

#[test]
fn request_for_a_replacement_node_skips_the_granting_broker() {
    let mut several = brokers(&["a:1", "b:1", "c:1"]);
    granted(&mut several, "http://a:1", 3, "http://a:1");
    let (_, asked) =
        run(&mut several, demand(Some(3)), |_| error(503, "FLAKEID_STORE_UNAVAILABLE"));
    assert_eq!(asked, ["http://b:1", "http://c:1"]);
    let replaced = |_: &HttpRequest| ok(&grant(4, "http://b:1"));
    let (_, asked) = run(&mut several, demand(Some(3)), replaced);
    assert_eq!(asked, ["http://b:1"]);
    let (_, asked) = run(&mut several, demand(Some(3)), |_| ok(&grant(5, "http://c:1")));
    assert_eq!(asked, ["http://c:1"], "the first replacement was not used");
    let mut timeouts = Vec::new();
    let (_, asked) = run(&mut several, demand(Some(3)), |request| {
        timeouts.push(request.timeout);
        no_answer()
    });
    assert_eq!(asked, ["http://b:1", "http://c:1"], "the granter may respond again meanwhile");
    assert_eq!(timeouts, [FIRST_ROUND_TIMEOUT; 2]);
    let mut single = brokers(&["a:1"]);
    granted(&mut single, "http://a:1", 3, "http://a:1");
    assert!(Exchange::new(&single, "default", demand(Some(3)), true).is_none());
}

#[test]
fn release_is_sent_only_once_even_without_a_response() {
    let mut brokers = brokers(&["a:1", "b:1"]);
    granted(&mut brokers, "http://a:1", 3, "http://a:1");
    let release = || Demand::Release(Release { node: 3, token: TOKEN, used_until: 5 });
    let (reply, asked) = run(&mut brokers, release(), |_| no_answer());
    assert!(reply.is_err() && asked == ["http://a:1"]);
    assert!(Exchange::new(&brokers, "default", release(), true).is_none());
}

#[test]
fn broker_responses_with_invalid_values_are_rejected() {
    let end = Layout::TWITTER.max_tick() + 1;
    let now = Layout::TWITTER.tick_at(SystemClock.unix_ms()).unwrap();
    for (field, values) in [
        ("node", vec![json!(1_024), json!(u64::MAX), json!(-1), json!(1.5), json!("1")]),
        ("start", vec![json!(now + 60_000), json!(end), json!(u64::MAX), json!(null)]),
        ("fence", vec![json!(0), json!(now), json!(end + 1), json!(u64::MAX), json!(1e300)]),
        ("max_ahead_ms", vec![json!(u64::MAX), json!(86_400_001)]),
        ("max_window_ms", vec![json!(0), json!(1), json!(u64::MAX)]),
        ("expires", vec![json!(i64::MIN), json!(i64::MAX), json!(u64::MAX)]),
        ("token", vec![json!(""), json!("zz"), json!("f".repeat(32))]),
        ("layout", vec![json!(""), json!("t999.s1@"), json!(7)]),
    ] {
        for value in values {
            let mut answer = grant(3, "http://a:1");
            answer[field] = value.clone();
            let (reply, _) = run(&mut brokers(&["a:1"]), demand(None), |_| ok(&answer));
            let Err(Fault::Unavailable(text)) = reply else {
                panic!("{field}: {value}: {reply:?}")
            };
            assert!(text.contains("not a valid broker response"), "{field}: {value}: {text}");
        }
    }
    let fence = now + 4_000;
    for (field, values) in [
        ("fence", vec![json!(fence + 4_001), json!(u64::MAX), json!(-1)]),
        ("expires", vec![json!(i64::MIN), json!(i64::MAX)]),
        ("renewed", vec![json!(i64::MIN), json!(i64::MAX)]),
    ] {
        for value in values {
            let mut brokers = brokers(&["a:1"]);
            let granted = granted(&mut brokers, "http://a:1", 3, "http://a:1");
            let mut answer = json!({ "fence": granted, "expires": 0, "renewed": 0 });
            answer[field] = value.clone();
            let (reply, _) = run(&mut brokers, renew(3, fence), |_| ok(&answer));
            assert!(matches!(reply, Err(Fault::Unavailable(_))), "{field}: {value}: {reply:?}");
        }
    }
}

#[test]
fn broker_messages_are_shown_without_control_characters() {
    let message = format!("\u{1b}]0;owned\u{7}\r\n\u{9b}31m{}", "x".repeat(50_000));
    let (reply, _) = run(&mut brokers(&["a:1"]), demand(None), |_| {
        let code = "FLAKEID_NO_FREE_NODE";
        error_with(503, &json!({ "code": code, "message": message, "retry_after_ms": u64::MAX }))
    });
    let Err(Fault::Refused(Refusal::Relayed { text, retry_after_ms, .. })) = reply else {
        panic!("{reply:?}")
    };
    assert!(!text.chars().any(char::is_control) && text.len() < 2_000, "{text}");
    assert_eq!(retry_after_ms, Some(86_400_000));
}

#[test]
fn debug_output_contains_neither_tokens_nor_authorization() {
    let mut brokers = brokers(&["a:1"]);
    let fence = granted(&mut brokers, "http://a:1", 3, "http://a:1");
    let release = Demand::Release(Release { node: 3, token: TOKEN, used_until: fence });
    let mut shown = Vec::new();
    for demand in [demand(None), renew(3, fence), release] {
        let exchange = Exchange::new(&brokers, "default", demand, true).unwrap();
        let request = exchange.request(&brokers, Duration::ZERO).unwrap();
        shown.push(format!("{exchange:?} {request:?}"));
    }
    let answer = ok(&grant(3, "http://a:1")).unwrap();
    let json = AnswerJson::read("http://a:1", &answer).unwrap();
    shown.push(format!("{answer:?} {json:?}"));
    let (text, bytes) = (TOKEN.to_text(), format!("{:?}", TOKEN.to_text().as_bytes()));
    for secret in ["secret", &text, bytes.trim_matches(['[', ']'])] {
        assert!(shown.iter().all(|shown| !shown.contains(secret)), "{shown:?}");
    }
}
