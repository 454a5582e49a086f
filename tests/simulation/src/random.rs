//! The random numbers of a simulation, all from one seed.

use std::cell::Cell;

use flakeid_protocol::Token;

/// A generator of random numbers (`SplitMix64`), which returns the same numbers for the same seed.
#[derive(Debug)]
pub struct Random(Cell<u64>);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    pub fn bits(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number from `first` to `last`, inclusive.
    pub fn between(&self, first: i64, last: i64) -> i64 {
        first + self.below(last.abs_diff(first) + 1).cast_signed()
    }

    /// Returns `true` once in `one_in` calls on average.
    pub fn once_in(&self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub fn token(&self) -> Token {
        Token::from_bits((u128::from(self.bits()) << 64) | u128::from(self.bits()))
    }

    /// Returns a factor from 0.8 to 1.2 that spreads the actions of clients, computed as in the product.
    pub fn jitter(&self) -> f64 {
        flakeid_protocol::random::jitter(self.bits().into())
    }
}
