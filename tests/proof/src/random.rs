//! Random states, reproducible from a seed. Numbers are close together, so that they are often equal or adjacent.

use std::hash::{BuildHasher, RandomState};

use flakeid_core::Layout;
use flakeid_protocol::{Bounds, Namespace, Token};

/// A tick in the middle of the random ticks.
pub const TICK: u64 = 2_000;

const EPOCH: i64 = 1_577_836_800_000;

/// Layouts with short and long ticks. The ticks of the second and the fourth layout end near the random ticks.
const LAYOUTS: [Layout; 4] = [layout(41, 1), layout(11, 1), layout(40, 10), layout(11, 7)];

const fn layout(time: u8, unit: u64) -> Layout {
    let layout = Layout::builder().time(time).node(4).sequence(4);
    layout.epoch(EPOCH).unit_ms(unit).build_const()
}

/// A generator of random numbers (`SplitMix64`).
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a seed that differs in every run.
    pub fn seed() -> u64 {
        RandomState::new().hash_one(0) >> 32
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns true once in `times` calls, on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns a tick near [`TICK`].
    pub fn tick(&mut self) -> u64 {
        TICK - 12 + self.below(60)
    }

    /// Returns the time in Unix milliseconds of an instant near [`TICK`], or rarely before the epoch.
    pub fn time(&mut self, layout: &Layout) -> i64 {
        if self.once_in(200) {
            return EPOCH - 1 - self.below(3).cast_signed();
        }
        let unit = layout.unit_ms();
        let first = (TICK - 12) * unit;
        EPOCH + (first + self.below(40 * unit)).cast_signed()
    }

    pub fn token(&mut self) -> Token {
        Token::from_bits(u128::from(self.below(2)) << 64 | u128::from(self.below(2)))
    }

    pub fn namespace(&mut self) -> Namespace {
        let layout = LAYOUTS[self.below(4) as usize];
        let unit = layout.unit_ms();
        let bounds = Bounds {
            max_window_ms: 2 * unit + self.below(12 * unit),
            max_ahead_ms: self.below(12 * unit),
            max_skew_ms: 1 + self.below(4 * unit),
            quiet_ms: self.below(40 * unit),
        };
        Namespace {
            bounds,
            floor: if self.once_in(2) { 0 } else { self.tick() },
            quiet_until: if self.once_in(2) { 0 } else { self.time(&layout) },
            incarnation: "1".into(),
            keeps_history: false,
            ..Namespace::new("proof", layout)
        }
    }
}

/// Returns the tick of a time, as the proof's function `tick`: the first tick before the epoch, and the tick after the
/// last one beyond the layout.
pub fn tick(layout: &Layout, unix_ms: i128) -> i128 {
    let since = unix_ms - i128::from(layout.epoch());
    since.div_euclid(layout.unit_ms().into()).clamp(0, i128::from(layout.max_tick()) + 1)
}

/// Returns a duration in ticks, rounded up.
pub fn ticks(layout: &Layout, ms: u64) -> i128 {
    ms.div_ceil(layout.unit_ms()).into()
}
