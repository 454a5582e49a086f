//! The times at which the windows of members end.

/// The largest error of a clock that counts as correct, in milliseconds.
pub const CORRECT_MS: u64 = 300;
/// The end of the window of a member that does not run.
pub const NEVER: u64 = u64::MAX;

/// The windows of the members, as far as the rule needs them.
pub struct Liveness {
    /// The time at which each member's window ends.
    pub ends: Vec<u64>,
    /// The longest time for which a member had no window although it should have had one, in milliseconds.
    pub longest: u64,
}

impl Liveness {
    pub fn new(members: usize) -> Self {
        Self { ends: vec![NEVER; members], longest: 0 }
    }

    pub fn starts(&mut self, member: usize, now: u64) {
        self.ends[member] = now;
    }

    pub fn stops(&mut self, member: usize) {
        self.ends[member] = NEVER;
    }

    /// Returns the time at which a member's window ends or ended.
    pub fn window_ends(&self, member: usize) -> u64 {
        self.ends[member]
    }
}
