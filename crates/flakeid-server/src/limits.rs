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
    /// The name of a metric without its prefix and suffix, optionally followed by the value of a label. The string is
    /// empty if no metric counts the limit.
    pub metric: &'static str,
}

/// Returns all limits: those of a client, of a connection, of a request and of each other protocol.
#[doc(hidden)]
#[must_use]
pub fn limits() -> Vec<Limit> {
    let mut limits = Vec::from(of_clients());
    limits.extend(of_connections());
    limits.extend(of_requests());
    limits.extend(of_redis());
    #[cfg(feature = "grpc")]
    limits.extend(of_grpc());
    limits
}

fn of_clients() -> [Limit; 7] {
    let burst = number(DEFAULT_LEASE_RATE * LEASE_BURST.as_secs());
    let lease_rate = format!("{DEFAULT_LEASE_RATE}, in bursts of {burst}");
    let strangers = STRANGERS_PER_SECOND.to_string();
    let limited =
        |what, option, default: String| of(what, Some(option), default, REFUSED, TOO_MANY);
    [
        limited("IDs of a client per second", "rate-limit", "none".into()),
        limited("requests of a client per second", "request-rate-limit", "none".into()),
        limited("leases that a client acquires per second", "lease-rate-limit", lease_rate),
        limited(
            "leases of a client at the same time",
            "max-leases-per-client",
            "7/8 of the nodes".into(),
        ),
        of(
            "requests of an address without a valid token per second",
            None,
            strangers,
            REFUSED,
            TOO_MANY,
        ),
        of(
            "delay of the response to a wrong token",
            None,
            time(WRONG_TOKEN_DELAY),
            "then the connection is closed",
            "denied_requests: wrong_token",
        ),
        of(
            "clients with limits of their own",
            None,
            number(MOST_CLIENTS as u64),
            "further clients share one limit",
            TOO_MANY,
        ),
    ]
}

fn of_connections() -> [Limit; 8] {
    let options = ServeOptions::default();
    let (idle, accepted) = (options.idle_timeout, options.idle_timeout * ACCEPTED_FACTOR);
    let most = number(options.max_connections as u64);
    let replaces = "a connection without an accepted request, or one that is idle for 5 s, is closed instead; \
                    otherwise the new one waits";
    debug_assert_eq!(REPLACEABLE_AFTER, Duration::from_secs(5), "the text names this time");
    let header = format!("{} bytes within {}", number(LONGEST_HEADER as u64), time(HEADER_TIMEOUT));
    let closed = |what, default, metric| of(what, None, default, CLOSED, metric);
    [
        of("connections", Some("max-connections"), most, replaces, "connections"),
        of(
            "connections of a client",
            Some("max-connections-per-client"),
            "half of all connections".into(),
            CLOSED,
            "refused_connections: too_many_connections",
        ),
        closed(
            "connections to the address of `--admin-listen`",
            number(MOST_ADMIN_CONNECTIONS as u64),
            "",
        ),
        closed(
            "time until the first accepted request of a connection",
            time(idle),
            "connections: new",
        ),
        closed("time without a request on an HTTP connection", time(idle), ""),
        closed("time without a request on a Redis or gRPC connection", time(accepted), ""),
        of(
            "time in which a client reads nothing of what the server sends",
            None,
            time(options.write_timeout),
            "the connection is closed; with gRPC, the call ends",
            "",
        ),
        closed("header of the PROXY protocol", header, "refused_connections: proxy_header"),
    ]
}

fn of_requests() -> [Limit; 8] {
    let idle = time(ServeOptions::default().idle_timeout);
    let max_count = number(DEFAULT_MAX_COUNT);
    let max_wait = format!("{} for {} IDs", time(DEFAULT_MAX_WAIT), number(PIECE));
    let readers = format!("{MOST_READERS}; others wait for {}", time(QUEUE_TIMEOUT));
    let large = "status 413, `FLAKEID_FIELD_OUT_OF_RANGE`, `INVALID_ARGUMENT`";
    let late = "status 503 with `Retry-After`, the error's code, `UNAVAILABLE`";
    let out_of_range = "requests: FLAKEID_FIELD_OUT_OF_RANGE";
    [
        of("IDs of a request", Some("max-count"), max_count, large, out_of_range),
        of("waiting for IDs", Some("max-wait"), max_wait, late, "waits"),
        of(
            "line and headers of an HTTP request",
            None,
            size(connection::LONGEST_HEAD),
            "status 431",
            "",
        ),
        of("time for the line and headers of an HTTP request", None, idle, CLOSED, ""),
        of(
            "body of a request about leases",
            None,
            size(LONGEST_BODY),
            "status 413",
            "requests: HTTP_TOO_LARGE",
        ),
        of(
            "time for the body of a request about leases",
            None,
            time(BODY_TIMEOUT),
            "status 408",
            "requests: HTTP_TIMEOUT",
        ),
        of("leases in one list", None, number(MOST_LISTED), "status 400", out_of_range),
        of(
            "searches of the history at the same time",
            None,
            readers,
            "status 503",
            "requests: FLAKEID_STORE_UNAVAILABLE",
        ),
    ]
}

fn of_redis() -> [Limit; 2] {
    let (length, word) = (number(LONGEST as u64), number(LONGEST_WORD as u64));
    let command = format!("{length} bytes in {MOST_WORDS} words of {word}");
    let wrong = "`ERR`, then the connection is closed";
    let idle = time(ServeOptions::default().idle_timeout);
    [
        of("command of a Redis client", None, command, wrong, "requests: HTTP_BAD_REQUEST"),
        of("time for the rest of a command of a Redis client", None, idle, CLOSED, ""),
    ]
}

#[cfg(feature = "grpc")]
fn of_grpc() -> [Limit; 6] {
    use crate::grpc::{
        LONGEST_HEAD, LONGEST_MESSAGE, MOST_CALLS, STREAMS, STREAMS_OF_CLIENT, WAITING_CALLS,
    };
    let later = |what, most| of(what, None, number(most), "further calls wait", "");
    let waiting = number(WAITING_CALLS as u64);
    [
        later("gRPC calls of a connection at the same time", MOST_CALLS.into()),
        later("streams of a gRPC connection at the same time", STREAMS as u64),
        later("gRPC streams of a client at the same time", STREAMS_OF_CLIENT as u64),
        of(
            "gRPC calls of a client that wait for a stream",
            None,
            waiting,
            "`RESOURCE_EXHAUSTED`",
            TOO_MANY,
        ),
        of("headers of a gRPC call", None, size(LONGEST_HEAD as usize), "status 431", ""),
        of("message of a gRPC client", None, size(LONGEST_MESSAGE), "`OUT_OF_RANGE`", ""),
    ]
}

fn of(
    what: &'static str,
    option: Option<&'static str>,
    default: String,
    beyond: &'static str,
    metric: &'static str,
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
