//! Reproducible random numbers.

use std::ops::Range;

/// The pseudo-random number generator `SplitMix64`: a seed always gives the same numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// An independent sequence for each `part` of a campaign.
    pub(crate) fn for_part(seed: u64, part: u64) -> Self {
        Self(Self(seed ^ part.wrapping_mul(0xD134_2543_DE82_EF95)).next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in a range, which must not be empty.
    pub(crate) fn in_range(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// `true` in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.in_range(0..100) < percent
    }
}
