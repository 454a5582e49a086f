//! Numbers derived from random bits, whatever their source.

/// Returns a number from 0 to 1, which separates clients that would otherwise act at the same times. Neither secrecy nor
/// safety depends on it.
#[must_use]
pub fn fraction(bits: u128) -> f64 {
    f64::from(bits as u32) / f64::from(u32::MAX)
}

/// Returns a number from 0.8 to 1.2.
#[must_use]
pub fn jitter(bits: u128) -> f64 {
    0.8 + 0.4 * fraction(bits)
}
