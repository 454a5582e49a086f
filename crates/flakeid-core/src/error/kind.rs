//! The kinds of errors, with their codes.

/// The kind of an error, which is the same in every language.
///
/// `tests/vectors/errors.json` lists each kind with its code string and its C status code, and states whether a retry
/// may succeed.
///
/// ```
/// use flakeid_core::{ErrorKind, Generator, Layout};
///
/// let error = Generator::new(Layout::TWITTER, 1024).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::FieldOutOfRange);
/// assert_eq!(error.kind().code(), "FLAKEID_FIELD_OUT_OF_RANGE");
/// assert!(!error.kind().is_retryable());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs.
    InvalidLayout,
    /// The value of a field or of an option is outside its allowed range.
    FieldOutOfRange,
    /// The string or number is not a valid ID in the given layout or text form.
    InvalidId,
    /// An option has an invalid value, or cannot be combined with another option.
    InvalidOption,
    /// The clock went backwards.
    ClockRollback,
    /// All sequence numbers of the current tick have been used.
    SequenceExhausted,
    /// The time field of the layout has run out of ticks.
    HorizonReached,
    /// The clock reads a time before the layout's epoch.
    BeforeEpoch,
    /// The generator has been retired.
    Closed,
    /// The generator belongs to the parent of this forked process.
    Forked,
    /// The ring buffer of IDs generated in advance is empty.
    RingEmpty,
    /// The window of ticks granted by the lease has been used up and has not been extended.
    LeaseExpired,
    /// The lease store cannot grant a node at this time.
    NoFreeNode,
    /// This host's clock and the lease store's clock are too far apart.
    ClockSkew,
    /// A generator cannot start at the node's fence yet, because the fence is too far ahead of the clock.
    FenceInFuture,
    /// The lease store is not responding.
    StoreUnavailable,
    /// The lease store rejected the request.
    StoreRejected,
}

impl ErrorKind {
    /// All error kinds, in the order of their C status codes.
    pub const ALL: [Self; 17] = [
        Self::InvalidLayout,
        Self::FieldOutOfRange,
        Self::InvalidId,
        Self::InvalidOption,
        Self::ClockRollback,
        Self::SequenceExhausted,
        Self::HorizonReached,
        Self::BeforeEpoch,
        Self::Closed,
        Self::Forked,
        Self::RingEmpty,
        Self::LeaseExpired,
        Self::NoFreeNode,
        Self::ClockSkew,
        Self::FenceInFuture,
        Self::StoreUnavailable,
        Self::StoreRejected,
    ];

    const fn row(self) -> (&'static str, i32, bool) {
        match self {
            Self::InvalidLayout => ("FLAKEID_INVALID_LAYOUT", 1, false),
            Self::FieldOutOfRange => ("FLAKEID_FIELD_OUT_OF_RANGE", 2, false),
            Self::InvalidId => ("FLAKEID_INVALID_ID", 3, false),
            Self::InvalidOption => ("FLAKEID_INVALID_OPTION", 4, false),
            Self::ClockRollback => ("FLAKEID_CLOCK_ROLLBACK", 10, true),
            Self::SequenceExhausted => ("FLAKEID_SEQUENCE_EXHAUSTED", 11, true),
            Self::HorizonReached => ("FLAKEID_HORIZON_REACHED", 12, false),
            Self::BeforeEpoch => ("FLAKEID_BEFORE_EPOCH", 13, true),
            Self::Closed => ("FLAKEID_CLOSED", 14, false),
            Self::Forked => ("FLAKEID_FORKED", 15, false),
            Self::RingEmpty => ("FLAKEID_RING_EMPTY", 16, true),
            Self::LeaseExpired => ("FLAKEID_LEASE_EXPIRED", 20, true),
            Self::NoFreeNode => ("FLAKEID_NO_FREE_NODE", 21, true),
            Self::ClockSkew => ("FLAKEID_CLOCK_SKEW", 22, false),
            Self::FenceInFuture => ("FLAKEID_FENCE_IN_FUTURE", 23, true),
            Self::StoreUnavailable => ("FLAKEID_STORE_UNAVAILABLE", 24, true),
            Self::StoreRejected => ("FLAKEID_STORE_REJECTED", 25, false),
        }
    }

    /// The code string of the kind, `FLAKEID_…`, which is the same in every language.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.row().0
    }

    /// The C status code of the kind. The code is never 0, and is never reused for another kind.
    #[must_use]
    pub const fn status(self) -> i32 {
        self.row().1
    }

    /// Whether the same call may succeed if the program repeats the call later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        self.row().2
    }
}
