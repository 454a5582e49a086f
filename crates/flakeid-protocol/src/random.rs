//! What is made of random bits, wherever they come from.

/// Returns a number from 0 to 1: keeps clients apart that would otherwise do the same again and again.
/// Nothing secret or safe rests on it.
#[must_use]
pub fn fraction(bits: u128) -> f64 {
    f64::from(bits as u32) / f64::from(u32::MAX)
}

/// Returns a number from 0.8 to 1.2.
#[must_use]
pub fn jitter(bits: u128) -> f64 {
    0.8 + 0.4 * fraction(bits)
}
