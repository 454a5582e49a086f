//! Tests of leases whose broker sends responses with random errors. The client must not panic, must not send its secret
//! to an address outside its URL, and must not issue an ID twice.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use flakeid::fetch::{
    FetchLease, FetchOptions, HttpAnswer, HttpRequest, set_host_moment, set_host_owner,
    set_host_random,
};
use flakeid_core::{Clock, Generator, Id, Layout, SystemClock};
use serde_json::{Value, json};

const CASES: u64 = 100_000;
const SEED: u64 = 20_261_125;

/// A generator that produces the same random numbers in every run (`SplitMix64`, by Sebastiano Vigna).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// Returns an arbitrary number, or a number at or near a boundary, such as the current tick or a power of two.
fn number(random: &mut Random) -> Value {
    let now = SystemClock.unix_ms();
    let tick = Layout::TWITTER.tick_at(now).unwrap();
    let near = |random: &mut Random, center: u64| {
        let by = random.pick(&[0, 1, 2, 10, 1_000, 4_000, 60_000]);
        if random.one_in(2) { center.wrapping_add(by) } else { center.wrapping_sub(by) }
    };
    match random.below(8) {
        0 => json!(near(random, tick)),
        1 => json!(now.wrapping_add(near(random, 0).cast_signed())),
        2 => {
            let powers = [0, 1, 10, 22, 31, 32, 41, 42, 53, 63];
            let power = random.pick(&powers);
            json!(near(random, 1 << power))
        }
        3 => json!(random.next()),
        4 => json!(random.next().cast_signed()),
        5 => json!(f64::from_bits(random.next())),
        6 => json!(-1),
        _ => json!(u64::MAX - random.next() % 3),
    }
}

fn text(random: &mut Random) -> String {
    let texts = [
        "",
        "twitter",
        "discord",
        "t41.d5.w5.s12@1288834974657/1ms",
        "t63@0/1ms",
        "t1.s63@0/1ms",
        "http://one:1",
        "http://two:1",
        "https://one:1",
        "http://evil:1",
        "http://one:2",
        "http://one:1@evil:1",
        "http://evil:1#.svc",
        "http://x.svc",
        "ftp://one:1",
        "held",
        "free",
        "fenced-off",
        "restored",
        "0123456789abcdef0123456789abcdef",
        "\u{1b}[2J\r\n",
        "💥",
        "FLAKEID_STORE_UNAVAILABLE",
        "FLAKEID_NO_FREE_NODE",
        "FLAKEID_CLOCK_SKEW",
        "FLAKEID_LEASE_EXPIRED",
        "FLAKEID_CLOSED",
        "FLAKEID_FORKED",
        "HTTP_MISDIRECTED",
        "HTTP_UNAUTHORIZED",
        "WAT",
    ];
    let text = random.pick(&texts).to_owned();
    if random.one_in(20) { text.repeat(random.below(2_000)) } else { text }
}

fn value(random: &mut Random, depth: u32) -> Value {
    match random.below(10) {
        0..=3 => number(random),
        4..=5 => json!(text(random)),
        6 => Value::Null,
        7 => json!(random.one_in(2)),
        _ if depth == 0 => json!([]),
        8 => (0..random.below(4)).map(|_| value(random, depth - 1)).collect(),
        _ => (0..random.below(4)).map(|_| (text(random), value(random, depth - 1))).collect(),
    }
}

/// Builds the response that a working broker would send.
fn right_answer(request: &HttpRequest, random: &mut Random) -> (u16, Value) {
    let asked: Value = serde_json::from_slice(&request.body).unwrap();
    let now = SystemClock.unix_ms();
    match request.method {
        "POST" => {
            let tick = Layout::TWITTER.tick_at(now).unwrap();
            let start = asked["after"].as_u64().unwrap().max(tick);
            let broker = request.url.split("/v1/").next().unwrap();
            let length = random.pick(&[2, 5, 100, 4_000]);
            let grant = json!({
                "node": random.below(1_024), "start": start, "fence": start + length,
                "token": asked["token"], "max_ahead_ms": 20_000, "max_window_ms": 4_000,
                "expires": now + 12_000, "broker": broker,
                "layout": "t41.d5.w5.s12@1288834974657/1ms",
            });
            (200, grant)
        }
        "PATCH" => {
            let wanted =
                asked["wanted"].as_u64().unwrap().max(asked["confirmed"].as_u64().unwrap());
            (200, json!({ "fence": wanted, "expires": now + 12_000, "renewed": now }))
        }
        _ => (204, Value::Null),
    }
}

fn error(random: &mut Random) -> (u16, Value) {
    let mut error = json!({ "code": text(random), "message": text(random) });
    if random.one_in(2) {
        error["retry_after_ms"] = number(random);
    }
    if random.one_in(3) {
        error["refusal"] = json!(text(random));
    }
    (random.pick(&[400, 401, 404, 409, 421, 429, 500, 503]), json!({ "error": error }))
}

fn answer(request: &HttpRequest, random: &mut Random) -> Result<HttpAnswer, String> {
    if random.one_in(12) {
        return Err(text(random));
    }
    let (mut status, mut body) =
        if random.one_in(4) { error(random) } else { right_answer(request, random) };
    if random.one_in(3) {
        for _ in 0..=random.below(3) {
            spoil(&mut body, random);
        }
    }
    if random.one_in(30) {
        status = random.pick(&[0, 100, 200, 204, 302, 404, 503, 999, u16::MAX]);
    }
    let mut body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    if random.one_in(30) {
        body.truncate(random.below(body.len() + 1));
    }
    if random.one_in(50) {
        body = (0..random.below(64)).map(|_| random.next() as u8).collect();
    }
    Ok(HttpAnswer::new(status, body))
}

/// Changes, removes or adds a field of a response, or replaces the whole response.
fn spoil(body: &mut Value, random: &mut Random) {
    let new = value(random, 3);
    let Some(fields) = body.as_object_mut().filter(|fields| !fields.is_empty()) else {
        *body = new;
        return;
    };
    let names: Vec<String> = fields.keys().cloned().collect();
    let name = random.pick(&names);
    match random.below(8) {
        0 => drop(fields.remove(&name)),
        1 => drop(fields.insert(text(random), new)),
        2 => *body = new,
        _ => drop(fields.insert(name, new)),
    }
}

/// Checks that the secret is sent only to addresses in the URL, and that each request uses the path of the broker's
/// lease API. If `follows` is true, the client has no secret and may also send requests to other addresses.
fn check_request(request: &HttpRequest, follows: bool) {
    let address = request.url.split("/v1/").next().unwrap();
    let is_known = ["http://one:1", "http://two:1", "http://x.svc"].contains(&address);
    let has_path = request.url.starts_with(&format!("{address}/v1/default/leases"));
    assert!(has_path && (is_known || follows), "{}", request.url);
    assert_eq!(request.authorization.is_some(), !follows, "{}", request.url);
}

/// The numbers of IDs and lease events in all cases.
#[derive(Debug, Default)]
struct Tally {
    ids: u64,
    grants: u64,
    renewals: u64,
    moves: u64,
    lost: u64,
}

fn run_case(random: &mut Random, began: Instant, tally: &mut Tally) {
    let layout = (!random.one_in(4)).then_some(Layout::TWITTER);
    let follows = random.one_in(4);
    let url =
        if follows { "http://one:1,two:1/" } else { "http://:secret@one:1,two:1/?brokers=x.svc" };
    let mut options = FetchOptions::new(layout).with("max_wait_ms", "0");
    if random.one_in(3) {
        options = options.with("overflow", "borrow");
    }
    let mut lease = FetchLease::open(url, options).unwrap();
    let mut last: Option<Id> = None;
    let steps = 2 + random.below(8);
    for step in 0..steps {
        if step + 1 == steps {
            lease.close();
        }
        set_host_moment(began.elapsed());
        lease.wake();
        let mut sent = 0;
        while let Some(request) = lease.request() {
            check_request(&request, follows);
            lease.answered(answer(&request, random));
            sent += 1;
            assert!(sent < 40, "the client sends requests without pauses");
        }
        for _ in 0..random.below(4) {
            if let Ok(id) = lease.run(Generator::try_next_id) {
                assert!(last.is_none_or(|last| last < id), "{last:?} before {id:?}");
                last = Some(id);
                tally.ids += 1;
            }
        }
        let _ = (lease.rest(), lease.pause(), lease.why().to_string(), lease.status().clone());
        while let Some(event) = lease.next_event() {
            match event.kind() {
                "acquired" => tally.grants += 1,
                "renewed" => tally.renewals += 1,
                "fenced-off" => tally.lost += 1,
                "released" if step + 1 < steps => tally.moves += 1,
                _ => {}
            }
        }
    }
    assert!(lease.is_ended());
}

#[test]
fn lease_issues_unique_ids_despite_random_errors_in_responses() {
    let mut random = Random(SEED);
    let mut tally = Tally::default();
    set_host_random(|| flakeid_stores::fresh_token().to_bits());
    let began = Instant::now();
    for _ in 0..CASES {
        run_case(&mut random, began, &mut tally);
    }
    println!("{CASES} leases: {tally:?}");
    let Tally { ids, grants, renewals, moves, lost } = tally;
    assert!([ids, grants, renewals, moves, lost].iter().all(|count| *count > 100), "{tally:?}");
}

#[test]
fn request_contains_the_owner_that_the_host_has_set() {
    set_host_moment(std::time::Duration::from_secs(1));
    set_host_random(|| 7);
    set_host_owner("web\n-1", 4711);
    let options = FetchOptions::new(Some(Layout::TWITTER));
    let mut lease = FetchLease::open("http://one:1", options).unwrap();
    lease.wake();
    let body: Value = serde_json::from_slice(&lease.request().unwrap().body).unwrap();
    assert_eq!((&body["host"], &body["pid"]), (&json!("web-1"), &json!(4711)));
}
