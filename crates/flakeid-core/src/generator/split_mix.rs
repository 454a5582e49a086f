//! A hash of 64 bits.

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014): every output bit depends on every input bit.
#[inline]
pub(super) fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
