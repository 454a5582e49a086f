use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Chance, to keep clients apart that would otherwise do the same again and again. Nothing secret
/// or safe rests on it.
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) fn new() -> Self {
        let mut hasher = RandomState::new().build_hasher();
        // A forked child inherits its parent's random keys.
        hasher.write_u32(std::process::id());
        Self { state: hasher.finish() | 1 }
    }

    /// A number below `end`, which is at least 1.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        // xorshift64: the state is never 0.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 16) % end.max(1)
    }

    /// Waits for a while that grows with the conflicts, up to about 50 ms; not before the first.
    pub(super) fn pause(&mut self, conflicts: u32) {
        if conflicts > 0 {
            let most = 1_u64 << conflicts.min(6);
            std::thread::sleep(Duration::from_micros(self.below(most * 800)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_their_end_and_reach_all_of_it() {
        let mut dice = Dice::new();
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[dice.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        assert_eq!(dice.below(1), 0);
        assert_eq!(dice.below(0), 0);
    }
}
