//! Helpers that build requests and a namespace with blocks.

use flakeid_core::Layout;
use flakeid_protocol::{Acquire, Bounds, Grant, Namespace, Owner, Release, Renew, Token};

pub(crate) const SPACE: &str = "orders";
/// The time at which each test begins, in Unix milliseconds.
pub(crate) const NOW: i64 = 1_900_000_000_000;

/// Builds a namespace with blocks of two nodes and the default bounds.
pub(crate) fn namespace() -> Namespace {
    Namespace { block_bits: 1, ..Namespace::new(SPACE, Layout::TWITTER) }
}

pub(crate) fn bounds(
    max_window_ms: u64,
    max_ahead_ms: u64,
    max_skew_ms: u64,
    quiet_ms: u64,
) -> Bounds {
    Bounds { max_window_ms, max_ahead_ms, max_skew_ms, quiet_ms }
}

/// Builds a token from a number. Tokens for different numbers differ in both halves.
pub(crate) fn token(number: u64) -> Token {
    Token::from_bits(u128::from(number) << 64 | u128::from(number))
}

/// Builds a request for any node.
pub(crate) fn request(number: u64, now: i64, window_ms: u64) -> Acquire {
    Acquire {
        window_ms,
        owner: Owner { name: String::new(), host: "test".into(), pid: 1 },
        ..Acquire::any_node(Layout::TWITTER, token(number), now)
    }
}

/// Builds a request for a block.
pub(crate) fn block_request(number: u64, now: i64, window_ms: u64) -> Acquire {
    Acquire {
        block_bits: 1,
        to: Layout::TWITTER.max_node() >> 1,
        ttl_ms: window_ms + 1_000,
        ..request(number, now, window_ms)
    }
}

pub(crate) fn renewal(grant: &Grant, number: u64, wanted: u64, now: i64) -> Renew {
    Renew {
        node: grant.node,
        start: grant.start,
        token: grant.token,
        next: Token::from_bits(u128::from(number)).of_grant(grant.token),
        confirmed: grant.fence,
        wanted,
        ttl_ms: 60_000,
        now,
        waited_ms: 0,
    }
}

pub(crate) fn release(grant: &Grant, used_until: u64) -> Release {
    Release { node: grant.node, token: grant.token, used_until }
}
