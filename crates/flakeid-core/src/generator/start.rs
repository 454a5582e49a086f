//! The sequence number at which a tick begins.

use crate::Error;

/// The rule for the first sequence number of each tick: 0, or a random number below a power of two. If a generator
/// issues IDs at a low rate, random numbers prevent all its IDs from having the same lowest bits. The random number is
/// a hash of the tick and a seed, so that all threads compute the same number without shared state.
pub(super) struct SequenceStart {
    pub(super) mask: u64,
    seed: u64,
}

impl SequenceStart {
    /// Creates a rule for random numbers below 2^`bits`. Returns an error if `bits` exceeds the number of bits that are
    /// set in `sequence_mask`.
    pub(super) fn new(bits: u64, sequence_mask: u64) -> Result<Self, Error> {
        let most = sequence_mask.count_ones().into();
        if bits > most {
            return Err(Error::option_out_of_range("sequence_start", &bits, 0, most));
        }
        let mask = (1 << bits) - 1;
        Ok(Self { mask, seed: if mask == 0 { 0 } else { random_seed() } })
    }

    #[inline]
    pub(super) fn of_tick(&self, tick: u64) -> u64 {
        if self.mask == 0 { 0 } else { split_mix(tick ^ self.seed) & self.mask }
    }
}

/// Hashes a number so that every output bit depends on every input bit. The hash is the finaliser of `SplitMix64`
/// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#[inline]
pub(super) fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns a seed that differs between processes. The seed is not secret.
#[cfg(feature = "std")]
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(())
}

/// Derives a seed from a memory address, because the target has no operating system that provides random numbers.
#[cfg(not(feature = "std"))]
fn random_seed() -> u64 {
    let here = 0u8;
    core::ptr::from_ref(&here).addr() as u64
}
