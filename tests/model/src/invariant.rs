//! What must never happen, and what must be possible.

/// As numbered in DESIGN.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    I14,
}

impl Invariant {
    pub const ALL: [Self; 11] = [
        Self::I1,
        Self::I2,
        Self::I3,
        Self::I4,
        Self::I5,
        Self::I6,
        Self::I7,
        Self::I8,
        Self::I9,
        Self::I10,
        Self::I14,
    ];

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
            Self::I14 => "I14 nobody else was granted the node of a holder that goes on",
        }
    }
}

/// What must be found in a scenario, so that it does not hold for want of anything happening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    TwoIssue,
    TwoHold,
    LateConfirmation,
    MovesOn,
    Moves,
    KeepsNode,
    Ousted,
    Released,
    GrantsAfterRestoration,
    IssuesAfterRestoration,
    Quarantined,
    ClosedWhileAsking,
    WindowsDoNotMeet,
    Continues,
    HasLastWindow,
}

impl Event {
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoIssue => "two processes issue",
            Self::TwoHold => "two processes hold a node",
            Self::LateConfirmation => "a renewal is confirmed after it timed out",
            Self::MovesOn => "a holder that was fenced off gets another grant",
            Self::Moves => "a holder whose renewals fail gets another grant",
            Self::KeepsNode => "a renewal succeeds before another grant arrives",
            Self::Ousted => "a holder of a fixed node is ousted",
            Self::Released => "a node is released below what was granted",
            Self::GrantsAfterRestoration => "a restored store grants",
            Self::IssuesAfterRestoration => "a restored store's grant is used",
            Self::Quarantined => "a held node is quarantined",
            Self::ClosedWhileAsking => "a grant comes after the end",
            Self::WindowsDoNotMeet => {
                "two nodes are held whose windows have at most a tick in common"
            }
            Self::Continues => "a holder goes on after a restoration",
            Self::HasLastWindow => "a holder has a last window after a restoration",
        }
    }
}
