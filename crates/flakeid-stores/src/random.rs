//! Random tokens, and random numbers that help clients avoid conflicts.

use flakeid_protocol::Token;

/// Returns random bits from the operating system. If the operating system returns an error (which has never been
/// observed on systems with threads), returns bits that differ from call to call. These bits are sufficient, because
/// tokens only have to differ, and the store's transactions keep IDs unique.
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

/// Returns a new random token, which practically never equals an earlier token.
#[must_use]
pub fn token() -> Token {
    Token::from_bits(bits())
}

/// Returns a random number from 0 to 1; see [`flakeid_protocol::random::fraction`].
#[must_use]
pub fn fraction() -> f64 {
    flakeid_protocol::random::fraction(bits())
}

/// Returns a random number from 0.8 to 1.2.
#[must_use]
pub fn jitter() -> f64 {
    flakeid_protocol::random::jitter(bits())
}

/// Returns a random integer from 0 to `end − 1`; `end` must be at least 1.
pub(crate) fn below(end: u64) -> u64 {
    ((fraction() * end as f64) as u64).min(end.saturating_sub(1))
}
