//! The invariants that the model checks.

/// An invariant, with its number in DESIGN.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    I1,
    I2,
    I3,
    I4,
    I5,
    I6,
    I7,
    I8,
    I9,
    I10,
    I11,
    I12,
    I13,
    I14,
    I15,
}

impl Invariant {
    pub const fn name(self) -> &'static str {
        match self {
            Self::I1 => "I1 (no ID is issued twice)",
            Self::I2 => "I2 (every issued tick is below a persisted fence)",
            Self::I3 => "I3 (a fence falls only when its node is released)",
            Self::I4 => "I4 (a grant starts at or above the fence and the floor)",
            Self::I5 => "I5 (the limit never exceeds a persisted fence)",
            Self::I6 => "I6 (the limit only rises, and no ID is issued after CLOSED)",
            Self::I7 => "I7 (at most one token is valid for each node)",
            Self::I8 => "I8 (the IDs of a process increase)",
            Self::I9 => "I9 (no fence is too far ahead of the store's clock)",
            Self::I10 => "I10 (quarantined nodes are never granted)",
            Self::I11 => "I11 (no window ends after the block's confirmed fence)",
            Self::I12 => "I12 (no window starts before the block's grant)",
            Self::I13 => "I13 (a block's fence never falls below a fence granted in it)",
            Self::I14 => "I14 (the node of a holder that continues was not granted again)",
            Self::I15 => "I15 (a forked broker grants no node)",
        }
    }
}
