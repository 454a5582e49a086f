//! Random tokens, and random numbers that keep clients apart.

use flakeid_protocol::Token;

/// Random bits from the operating system. Where it has none (never seen on systems with threads),
/// bits that differ from call to call, because what decides over IDs is the store's transaction;
/// tokens need only differ.
fn bits() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => fallback(),
    }
}

fn fallback() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let hash = |salt: u8| {
        let now = std::time::SystemTime::now();
        u128::from(RandomState::new().hash_one((salt, now, std::process::id())))
    };
    hash(0) << 64 | hash(1)
}

/// A token never used before.
#[must_use]
pub fn token() -> Token {
    Token::from_bits(bits())
}

/// Returns a number from 0 to 1, as [`flakeid_protocol::random::fraction`].
#[must_use]
pub fn fraction() -> f64 {
    flakeid_protocol::random::fraction(bits())
}

/// Returns a number from 0.8 to 1.2.
#[must_use]
pub fn jitter() -> f64 {
    flakeid_protocol::random::jitter(bits())
}

/// A whole number below `end`, which is at least 1.
#[cfg(any(feature = "mysql", feature = "redis", feature = "etcd"))]
pub(crate) fn below(end: u64) -> u64 {
    ((fraction() * end as f64) as u64).min(end.saturating_sub(1))
}
