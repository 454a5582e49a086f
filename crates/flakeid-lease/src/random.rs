//! Random tokens, and random numbers that keep clients apart.

use crate::protocol::Token;

/// Random bits from the operating system. Where it has none (never seen on systems with threads),
/// bits that differ from call to call, because what decides over IDs is the store's transaction;
/// tokens need only differ.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn bits() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => fallback(),
    }
}

/// Random bits from the host; no lease is opened without them.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn bits() -> u128 {
    crate::host::random()
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
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

/// From 0 to 1: keeps clients apart that would otherwise do the same again and again. Nothing secret
/// or safe rests on it.
pub(crate) fn fraction() -> f64 {
    f64::from(bits() as u32) / f64::from(u32::MAX)
}

/// From 0.8 to 1.2.
pub(crate) fn jitter() -> f64 {
    0.8 + 0.4 * fraction()
}

/// A whole number below `end`, which is at least 1.
#[cfg(any(feature = "mysql", feature = "redis", feature = "etcd"))]
pub(crate) fn below(end: u64) -> u64 {
    ((fraction() * end as f64) as u64).min(end.saturating_sub(1))
}
