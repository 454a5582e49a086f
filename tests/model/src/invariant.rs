//! What must never happen.

/// As numbered in DESIGN.md.
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
            Self::I1 => "I1 no ID twice",
            Self::I2 => "I2 issued below a persisted fence",
            Self::I3 => "I3 a fence falls only in a release",
            Self::I4 => "I4 a grant starts at the fence",
            Self::I5 => "I5 the limit is persisted",
            Self::I6 => "I6 the limit only rises, nothing after CLOSED",
            Self::I7 => "I7 one token per node",
            Self::I8 => "I8 IDs of a process increase",
            Self::I9 => "I9 fences are near the clock",
            Self::I10 => "I10 quarantined nodes are not granted",
            Self::I11 => "I11 no window beyond the block's confirmed fence",
            Self::I12 => "I12 no window before the block's grant",
            Self::I13 => "I13 a block's fence never below what was granted in it",
            Self::I14 => "I14 nobody else was granted the node of a holder that goes on",
            Self::I15 => "I15 a forked broker grants nothing",
        }
    }
}
