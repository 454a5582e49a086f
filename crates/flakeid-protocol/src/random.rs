//! Random numbers, computed from random bits that the caller provides.

/// Returns a random number from 0 to 1. The number spreads the actions of clients over time; neither secrecy nor
/// safety depends on the number.
#[must_use]
pub fn fraction(bits: u128) -> f64 {
    f64::from(bits as u32) / f64::from(u32::MAX)
}

/// Returns a random factor from 0.8 to 1.2, which spreads the actions of clients over time.
#[must_use]
pub fn jitter(bits: u128) -> f64 {
    0.8 + 0.4 * fraction(bits)
}
