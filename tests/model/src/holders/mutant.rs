//! Ways to get the protocol wrong, each of which the model must refute.

/// What is wrong. [`Nothing`](Self::Nothing) is the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    Nothing,
    /// The limit rises when the renewal is sent, not when it is confirmed.
    UseBeforePersist,
    /// A grant starts at the clock, whatever the fence is.
    StartAtNow,
    /// A renewal counts whoever sends it.
    NoToken,
    /// The node is given back while the generator still issues.
    ReleaseWithoutClosing,
    /// A renewal that was not answered is taken for one that was confirmed.
    AckLostIsSuccess,
    /// The tick of the fence itself is issued.
    FenceInclusive,
    /// A release lowers the fence to the tick of the last ID.
    PastHighWater,
    /// No lease at all: each process has a node of its own and trusts the clock.
    Plain,
    /// A forked child goes on with its parent's generator.
    ForkBlind,
    /// A forked child keeps its parent's lease, but not the limit of its generator.
    ForkKeepsHolder,
    /// An expired row is deleted, and its fence with it.
    TtlErasesKey,
    /// The store does not notice that it was restored.
    RollbackBlind,
    /// A token counts for any later grant that has it too.
    TokenOfAnyGrant,
    /// A new grant's generator begins at its start, whatever this process used before.
    BelowOwnLast,
    /// A node whose window is too short to begin in is given back as if nothing of it was used.
    UnusedUnlessBegun,
    /// After a restoration holders go on although others may have had their nodes since they expired.
    ContinuesExpired,
    /// The same, but only by as much as clocks may differ.
    ContinuesWithoutSkew,
    /// After a restoration holders go on although another copy may have granted their nodes.
    ContinuesBesideSiblings,
    /// After a restoration holders have a last window although others may have had their nodes since
    /// they expired.
    LastWindowExpired,
    /// The same up to where one would end that had just been renewed.
    LastWindowBesideSiblings,
    /// After a restoration holders go on whatever grant the row is of.
    ContinuesAnyGrant,
    /// After a restoration holders of fixed nodes go on, too.
    ContinuesFixed,
    /// Whoever wants a certain node takes it over from any holder.
    TakesOverLive,
    /// Operators let others have a node at once.
    OperatorFreesAtOnce,
    /// A restored store grants at once, from the clock on.
    NoWait,
}
