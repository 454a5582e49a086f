//! Ways to get a broker wrong, each of which the model must refute.

/// What is wrong. [`Nothing`](Self::Nothing) is the product.
///
/// The product's code is not changed: it is told what is not so, or not told what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    Nothing,
    /// A forked child answers as its parent does.
    ForkAnswers,
    /// A broker keeps the rows of a block that it lost, and goes on with them when it gets the block again.
    KeepsRows,
    /// Windows reach a tick beyond the block's fence.
    BeyondFence,
    /// Windows may start before the block's grant.
    BelowStart,
    /// A block is given back as if nothing of it was used after the last tick of the broker itself, which
    /// issues no IDs.
    GivesBackOwnLast,
    /// A block is given back with the highest fence that a row has now, and not that one ever had.
    GivesBackPresentHighest,
    /// A block is given back while the broker goes on granting in it.
    GivesBackAndGrants,
    /// A broker that got a block again before it found out that it had lost it gives up the later grant when
    /// it does.
    GivesUpLaterGrant,
    /// A renewal counts whatever its token and start are.
    AnyToken,
    /// A block's fence is used when its renewal is sent, not when the store has confirmed it.
    BeforeConfirmed,
    /// A renewal of a block without an answer is taken for a confirmed one.
    AckLostIsSuccess,
    /// The store does not notice that it was restored.
    RollbackBlind,
}
