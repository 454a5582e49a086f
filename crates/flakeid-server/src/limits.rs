//! The limits of a server with their defaults, from which a page of the guide is generated.

use std::time::Duration;

use crate::admission::{STRANGERS_PER_SECOND, WRONG_TOKEN_DELAY};
use crate::connection;
use crate::connections::{ACCEPTED_FACTOR, REPLACEABLE_AFTER};
use crate::holders::{MOST_READERS, QUEUE_TIMEOUT};
use crate::id_pieces::PIECE;
use crate::leases::{BODY_TIMEOUT, LONGEST_BODY, MOST_LISTED};
use crate::proxies::LONGEST_HEADER;
use crate::rate::MOST_CLIENTS;
use crate::resp::{LONGEST, LONGEST_WORD, MOST_WORDS};
use crate::server::{HEADER_TIMEOUT, MOST_ADMIN_CONNECTIONS, ServeOptions};
use crate::service::{DEFAULT_LEASE_RATE, DEFAULT_MAX_COUNT, DEFAULT_MAX_WAIT, LEASE_BURST};

/// The code under which the metrics count a request beyond a client's limit.
const TOO_MANY: &str = "requests: HTTP_TOO_MANY_REQUESTS";
/// The responses to a request beyond a client's limit.
const REFUSED: &str = "status 429 with `Retry-After`, `TRYAGAIN`, `RESOURCE_EXHAUSTED`";
const CLOSED: &str = "the connection is closed";

/// A limit, as a row of a table.
#[doc(hidden)]
#[derive(Debug)]
pub struct Limit {
    /// The limited quantity.
    pub what: &'static str,
    /// The option that sets the limit, or `None` if the limit is fixed.
    pub option: Option<&'static str>,
    /// The limit without the option.
    pub default: String,
    /// The server's response beyond the limit.
    pub beyond: &'static str,
    /// The name of a metric without its prefix and suffix, optionally followed by the value of a label.
    pub metric: Option<&'static str>,
}

/// Returns all limits: those of a client, of a request, of a connection and of each protocol.
#[doc(hidden)]
#[must_use]
pub fn limits() -> Vec<Limit> {
    let options = ServeOptions::default();
    let [idle, accepted] = [options.idle_timeout, options.idle_timeout * ACCEPTED_FACTOR].map(time);
    let burst = DEFAULT_LEASE_RATE * LEASE_BURST.as_secs();
    let lease_rate = format!("{DEFAULT_LEASE_RATE}, in bursts of {}", number(burst));
    let max_wait = format!("{} for {} IDs", time(DEFAULT_MAX_WAIT), number(PIECE));
    let most = number(options.max_connections as u64);
    let replaces = "a connection without an accepted request, or one that is idle for 5 s, is closed instead; \
                    otherwise the new one waits";
    debug_assert_eq!(REPLACEABLE_AFTER, Duration::from_secs(5), "the text names this time");
    let word = format!(
        "{} bytes in {MOST_WORDS} words of {}",
        number(LONGEST as u64),
        number(LONGEST_WORD as u64)
    );
    let header = format!("{} bytes within {}", number(LONGEST_HEADER as u64), time(HEADER_TIMEOUT));
    let readers = format!("{MOST_READERS}; others wait for {}", time(QUEUE_TIMEOUT));
    let strangers = STRANGERS_PER_SECOND.to_string();
    let too_many = Some(TOO_MANY);
    let mut limits = vec![
        of("IDs of a client per second", Some("rate-limit"), "none".into(), REFUSED, too_many),
        of(
            "requests of a client per second",
            Some("request-rate-limit"),
            "none".into(),
            REFUSED,
            too_many,
        ),
        of(
            "leases that a client acquires per second",
            Some("lease-rate-limit"),
            lease_rate,
            REFUSED,
            too_many,
        ),
        of(
            "leases of a client at the same time",
            Some("max-leases-per-client"),
            "7/8 of the nodes".into(),
            REFUSED,
            too_many,
        ),
        of(
            "requests of an address without a valid token per second",
            None,
            strangers,
            REFUSED,
            too_many,
        ),
        of(
            "delay of the response to a wrong token",
            None,
            time(WRONG_TOKEN_DELAY),
            "then the connection is closed",
            Some("denied_requests: wrong_token"),
        ),
        of(
            "clients with limits of their own",
            None,
            number(MOST_CLIENTS as u64),
            "further clients share one limit",
            too_many,
        ),
        of("connections", Some("max-connections"), most, replaces, Some("connections")),
        of(
            "connections of a client",
            Some("max-connections-per-client"),
            "half of all connections".into(),
            CLOSED,
            Some("refused_connections: too_many_connections"),
        ),
        of(
            "connections to the address of `--admin-listen`",
            None,
            number(MOST_ADMIN_CONNECTIONS as u64),
            CLOSED,
            None,
        ),
        of(
            "time until the first accepted request of a connection",
            None,
            idle.clone(),
            CLOSED,
            Some("connections: new"),
        ),
        of("time without a request on an HTTP connection", None, idle.clone(), CLOSED, None),
        of("time without a request on a Redis or gRPC connection", None, accepted, CLOSED, None),
        of(
            "time in which a client reads nothing of what the server sends",
            None,
            time(options.write_timeout),
            "the connection is closed; with gRPC, the call ends",
            None,
        ),
        of(
            "header of the PROXY protocol",
            None,
            header,
            CLOSED,
            Some("refused_connections: proxy_header"),
        ),
        of(
            "IDs of a request",
            Some("max-count"),
            number(DEFAULT_MAX_COUNT),
            "status 413, `FLAKEID_FIELD_OUT_OF_RANGE`, `INVALID_ARGUMENT`",
            Some("requests: FLAKEID_FIELD_OUT_OF_RANGE"),
        ),
        of(
            "waiting for IDs",
            Some("max-wait"),
            max_wait,
            "status 503 with `Retry-After`, the error's code, `UNAVAILABLE`",
            Some("waits"),
        ),
        of(
            "line and headers of an HTTP request",
            None,
            size(connection::LONGEST_HEAD),
            "status 431",
            None,
        ),
        of("time for the line and headers of an HTTP request", None, idle.clone(), CLOSED, None),
        of(
            "body of a request about leases",
            None,
            size(LONGEST_BODY),
            "status 413",
            Some("requests: HTTP_TOO_LARGE"),
        ),
        of(
            "time for the body of a request about leases",
            None,
            time(BODY_TIMEOUT),
            "status 408",
            Some("requests: HTTP_TIMEOUT"),
        ),
        of(
            "leases in one list",
            None,
            number(MOST_LISTED),
            "status 400",
            Some("requests: FLAKEID_FIELD_OUT_OF_RANGE"),
        ),
        of(
            "searches of the history at the same time",
            None,
            readers,
            "status 503",
            Some("requests: FLAKEID_STORE_UNAVAILABLE"),
        ),
        of(
            "command of a Redis client",
            None,
            word,
            "`ERR`, then the connection is closed",
            Some("requests: HTTP_BAD_REQUEST"),
        ),
        of("time for the rest of a command of a Redis client", None, idle, CLOSED, None),
    ];
    #[cfg(feature = "grpc")]
    {
        use crate::grpc::{LONGEST_HEAD, LONGEST_MESSAGE, MOST_CALLS, STREAMS, STREAMS_OF_CLIENT};
        let later = "further calls wait";
        let streams = number(STREAMS_OF_CLIENT as u64);
        let head = size(LONGEST_HEAD as usize);
        limits.extend([
            of(
                "gRPC calls of a connection at the same time",
                None,
                MOST_CALLS.to_string(),
                later,
                None,
            ),
            of(
                "streams of a gRPC connection at the same time",
                None,
                STREAMS.to_string(),
                later,
                None,
            ),
            of("gRPC streams of a client at the same time", None, streams, later, None),
            of("headers of a gRPC call", None, head, "status 431", None),
            of("message of a gRPC client", None, size(LONGEST_MESSAGE), "`OUT_OF_RANGE`", None),
        ]);
    }
    limits
}

fn of(
    what: &'static str,
    option: Option<&'static str>,
    default: String,
    beyond: &'static str,
    metric: Option<&'static str>,
) -> Limit {
    Limit { what, option, default, beyond, metric }
}

fn time(time: Duration) -> String {
    match time.as_millis() {
        ms if ms % 60_000 == 0 => format!("{} min", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
        ms => format!("{ms} ms"),
    }
}

fn size(bytes: usize) -> String {
    format!("{} KiB", bytes / 1_024)
}

/// Writes a number with a comma before each group of three digits.
fn number(value: u64) -> String {
    if value < 1_000 {
        return value.to_string();
    }
    format!("{},{:03}", number(value / 1_000), value % 1_000)
}
