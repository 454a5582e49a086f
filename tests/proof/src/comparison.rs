//! The comparison of one answer, and the mistakes that the comparisons must detect.

/// A mistake in the code. The comparison makes it by falsifying the data that the code gets or returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The code as it is.
    None,
    /// A grant starts at the clock, regardless of the fence.
    StartAtClock,
    /// The limit rises when a renewal is sent, not when it is confirmed.
    LimitOnSend,
    /// A renewal requires no token.
    NoToken,
    /// A node is released while its generator still issues IDs.
    ReleaseEarly,
    /// The tick of the fence itself is issued.
    IssueFence,
    /// A new run's floor allows for two skews instead of three.
    LowFloor,
    /// A holder continues its lease although its row has expired.
    ContinueExpired,
    /// A broker's window ends a tick after the block's fence.
    BeyondBlock,
    /// A block is released below a fence that its broker granted.
    ForgetGrants,
}

/// All mistakes.
pub const MUTANTS: &[Mutant] = &[
    Mutant::StartAtClock,
    Mutant::LimitOnSend,
    Mutant::NoToken,
    Mutant::ReleaseEarly,
    Mutant::IssueFence,
    Mutant::LowFloor,
    Mutant::ContinueExpired,
    Mutant::BeyondBlock,
    Mutant::ForgetGrants,
];

/// Checks that the code's answer is the relation's answer.
///
/// # Panics
/// If the answers differ. The message contains the state.
pub fn agree<T: PartialEq + std::fmt::Debug>(
    action: &str,
    code: &T,
    relation: &T,
    state: &dyn std::fmt::Debug,
) {
    assert!(
        code == relation,
        "{action}: the code answers {code:?}, the relation {relation:?}\nin {state:#?}"
    );
}
