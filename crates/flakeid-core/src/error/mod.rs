//! The one error type of all languages.

mod reasons;
mod spelled;
mod spelling;

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::calendar::{Rfc3339, whole_ms};
pub(crate) use reasons::{LayoutFault, TextFault};
pub use spelled::SpelledError;
use spelling::Named;
pub use spelling::Spelling;

use crate::quoted::Quoted;

/// What went wrong, one word for each case, the same in every language.
///
/// The table (code strings, C numbers, which kinds are worth a retry) is `tests/vectors/errors.json`.
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
    /// A layout's fields, epoch or unit do not make a layout, or not one that can generate.
    InvalidLayout,
    /// A field's value is outside the range its width allows.
    FieldOutOfRange,
    /// Text or bits that are not an ID (of this layout, or of this text form).
    InvalidId,
    /// An option of a generator that cannot be, or cannot be together with another.
    InvalidOption,
    /// The clock reads less than it did before.
    ClockRollback,
    /// Every sequence number of the tick is used up.
    SequenceExhausted,
    /// The layout's ticks have run out.
    HorizonReached,
    /// The clock reads less than the layout's epoch.
    BeforeEpoch,
    /// The generator was retired.
    Closed,
    /// The generator belongs to the parent of this forked process.
    Forked,
    /// The ring buffer of pre-built IDs is empty.
    RingEmpty,
    /// The window of ticks granted by the lease is used up and was not extended.
    LeaseExpired,
    /// No node can be leased now.
    NoFreeNode,
    /// This host's clock and the store's are too far apart.
    ClockSkew,
    /// The node's fence lies too far ahead of the clock to start there.
    FenceInFuture,
    /// The lease store does not answer.
    StoreUnavailable,
    /// The lease store answers no.
    StoreRejected,
}

impl ErrorKind {
    /// Every kind, in the order of the C numbers.
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

    /// The code string, the same in every language: `FLAKEID_…`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.row().0
    }

    /// The C status: never 0, never reused.
    #[must_use]
    pub const fn status(self) -> i32 {
        self.row().1
    }

    /// Whether the same call may succeed later without anything else being changed.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        self.row().2
    }
}

/// The one error type: a kind, a sentence for people, and how long to wait where waiting helps.
///
/// Errors of the hot path (a full tick, a clock that went back, a window that ended) allocate
/// nothing.
///
/// ```
/// use flakeid_core::{Error, ErrorKind, Generator, Layout, ManualClock, Overflow};
///
/// let generator = Generator::builder(Layout::TWITTER)
///     .node(7)
///     .overflow(Overflow::Error)
///     .clock(ManualClock::new(1_505_914_988_849))
///     .build()?;
/// generator.next_ids(4096)?;
/// let error = generator.next_id().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
/// if let Some(after) = error.retry_after() {
///     std::thread::sleep(after);
/// }
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Field {
        name: Named,
        value: Box<str>,
        min: u64,
        max: u64,
    },
    Layout {
        text: Option<Box<str>>,
        fault: LayoutFault,
    },
    IdText {
        form: &'static str,
        text: Box<str>,
        fault: TextFault,
    },
    IdBits {
        id: u64,
        stray: u64,
        layout: Box<str>,
    },
    Option {
        name: Named,
        reason: Box<str>,
    },
    ClockRollback {
        by: Duration,
        retry_after: Duration,
    },
    SequenceExhausted {
        retry_after: Duration,
    },
    Horizon {
        horizon: i64,
    },
    BeforeEpoch {
        by: Duration,
        epoch: i64,
    },
    Closed,
    Forked,
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "the ring needs threads"))]
    RingEmpty {
        retry_after: Duration,
    },
    LeaseExpired {
        retry_after: Duration,
    },
    Other(Box<Other>),
}

#[derive(Clone, PartialEq, Eq)]
struct Other {
    kind: ErrorKind,
    message: Box<str>,
    retry_after: Option<Duration>,
    cause: Option<Cause>,
}

/// The error that caused another one. Errors are equal if they say the same, whatever caused them.
#[derive(Clone)]
struct Cause(Arc<dyn core::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl Error {
    /// An error of any kind with a sentence of its own, for crates built on this one.
    #[must_use]
    pub fn new(kind: ErrorKind, message: &str, retry_after: Option<Duration>) -> Self {
        let (message, cause) = (message.into(), None);
        Self(Repr::Other(Box::new(Other { kind, message, retry_after, cause })))
    }

    /// Sets the [source](core::error::Error::source) of an error that [`new`](Self::new) made.
    ///
    /// ```
    /// use std::error::Error as _;
    ///
    /// use flakeid_core::{Error, ErrorKind};
    ///
    /// let lost = Error::new(ErrorKind::StoreUnavailable, "the store does not answer", None);
    /// let error = Error::new(ErrorKind::LeaseExpired, "the window was not renewed", None);
    /// let error = error.caused_by(lost);
    /// assert_eq!(error.source().unwrap().to_string(), "the store does not answer");
    /// ```
    #[must_use]
    pub fn caused_by(mut self, source: impl core::error::Error + Send + Sync + 'static) -> Self {
        if let Repr::Other(other) = &mut self.0 {
            other.cause = Some(Cause(Arc::new(source)));
        }
        self
    }

    /// A field's `value` that is not within `min..=max`. `value` is anything printable, so that
    /// bindings can report what a 64-bit integer cannot hold (-1, 2^64).
    #[must_use]
    pub fn field_out_of_range(
        field: &'static str,
        value: &dyn fmt::Display,
        min: u64,
        max: u64,
    ) -> Self {
        Self::out_of_range(Named::Field(field), value, min, max)
    }

    /// As [`field_out_of_range`](Self::field_out_of_range), for an option: [`spelled`](Self::spelled)
    /// writes its name as the caller does.
    #[must_use]
    pub fn option_out_of_range(
        option: &'static str,
        value: &dyn fmt::Display,
        min: u64,
        max: u64,
    ) -> Self {
        Self::out_of_range(Named::Option(option), value, min, max)
    }

    fn out_of_range(name: Named, value: &dyn fmt::Display, min: u64, max: u64) -> Self {
        Self(Repr::Field { name, value: excerpt(&value.to_string()), min, max })
    }

    /// An option that cannot be, with the reason and what to do instead.
    ///
    /// Names of options in the reason are in backticks, as in "requires `worker`", so that
    /// [`spelled`](Self::spelled) finds them.
    #[must_use]
    pub fn invalid_option(option: &'static str, reason: &str) -> Self {
        Self(Repr::Option { name: Named::Option(option), reason: reason.into() })
    }

    /// As [`invalid_option`](Self::invalid_option), for a field of an ID or another argument.
    #[must_use]
    pub fn invalid_field(field: &'static str, reason: &str) -> Self {
        Self(Repr::Option { name: Named::Field(field), reason: reason.into() })
    }

    /// Returns the same error, naming the option of the same name if it names a field of an ID.
    #[must_use]
    pub fn of_option(mut self) -> Self {
        if let Repr::Field { name, .. } | Repr::Option { name, .. } = &mut self.0 {
            *name = Named::Option(name.canonical());
        }
        self
    }

    pub(crate) fn layout(text: Option<&str>, fault: LayoutFault) -> Self {
        Self(Repr::Layout { text: text.map(excerpt), fault })
    }

    pub(crate) fn id_text(form: &'static str, text: &str, fault: TextFault) -> Self {
        Self(Repr::IdText { form, text: excerpt(text), fault })
    }

    pub(crate) fn id_bits(id: u64, stray: u64, layout: &dyn fmt::Display) -> Self {
        Self(Repr::IdBits { id, stray, layout: layout.to_string().into() })
    }

    pub(crate) const fn clock_rollback(by: Duration, retry_after: Duration) -> Self {
        Self(Repr::ClockRollback { by, retry_after })
    }

    pub(crate) const fn sequence_exhausted(retry_after: Duration) -> Self {
        Self(Repr::SequenceExhausted { retry_after })
    }

    pub(crate) const fn horizon_reached(horizon: i64) -> Self {
        Self(Repr::Horizon { horizon })
    }

    pub(crate) const fn before_epoch(by: Duration, epoch: i64) -> Self {
        Self(Repr::BeforeEpoch { by, epoch })
    }

    pub(crate) const fn closed() -> Self {
        Self(Repr::Closed)
    }

    pub(crate) const fn forked() -> Self {
        Self(Repr::Forked)
    }

    #[cfg(feature = "std")]
    pub(crate) const fn ring_empty(retry_after: Duration) -> Self {
        Self(Repr::RingEmpty { retry_after })
    }

    pub(crate) const fn lease_expired(retry_after: Duration) -> Self {
        Self(Repr::LeaseExpired { retry_after })
    }

    /// What went wrong.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match &self.0 {
            Repr::Field { .. } => ErrorKind::FieldOutOfRange,
            Repr::Layout { .. } => ErrorKind::InvalidLayout,
            Repr::IdText { .. } | Repr::IdBits { .. } => ErrorKind::InvalidId,
            Repr::Option { .. } => ErrorKind::InvalidOption,
            Repr::ClockRollback { .. } => ErrorKind::ClockRollback,
            Repr::SequenceExhausted { .. } => ErrorKind::SequenceExhausted,
            Repr::Horizon { .. } => ErrorKind::HorizonReached,
            Repr::BeforeEpoch { .. } => ErrorKind::BeforeEpoch,
            Repr::Closed => ErrorKind::Closed,
            Repr::Forked => ErrorKind::Forked,
            Repr::RingEmpty { .. } => ErrorKind::RingEmpty,
            Repr::LeaseExpired { .. } => ErrorKind::LeaseExpired,
            Repr::Other(other) => other.kind,
        }
    }

    /// The kind's code string, for searching and for other languages: `FLAKEID_…`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// After how long the same call may succeed; `None` where waiting does not help.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match &self.0 {
            Repr::ClockRollback { retry_after, .. }
            | Repr::SequenceExhausted { retry_after }
            | Repr::RingEmpty { retry_after }
            | Repr::LeaseExpired { retry_after } => Some(*retry_after),
            Repr::BeforeEpoch { by, .. } => Some(*by),
            Repr::Other(other) => other.retry_after,
            _ => None,
        }
    }

    /// By how much the clock went back, for [`ErrorKind::ClockRollback`].
    #[must_use]
    pub const fn rollback(&self) -> Option<Duration> {
        match &self.0 {
            Repr::ClockRollback { by, .. } => Some(*by),
            _ => None,
        }
    }

    /// When the layout ran out, in Unix milliseconds, for [`ErrorKind::HorizonReached`].
    #[must_use]
    pub const fn horizon(&self) -> Option<i64> {
        match &self.0 {
            Repr::Horizon { horizon } => Some(*horizon),
            _ => None,
        }
    }

    /// The field at fault, for [`ErrorKind::FieldOutOfRange`].
    #[must_use]
    pub const fn field(&self) -> Option<&'static str> {
        match &self.0 {
            Repr::Field { name, .. } => Some(name.canonical()),
            _ => None,
        }
    }
}

/// Input is quoted in messages, but a megabyte of it helps nobody.
pub(crate) fn excerpt(text: &str) -> Box<str> {
    const MOST: usize = 64;
    let cut = text.char_indices().nth(MOST).and_then(|(end, _)| text.get(..end));
    cut.map_or_else(|| text.into(), |cut| alloc::format!("{cut}…").into())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Spelling::default())
    }
}

impl Error {
    fn write(&self, f: &mut fmt::Formatter<'_>, spelling: &Spelling<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Field { name, value, min, max } => {
                spelling.write_out_of_range(f, *name, value, *min, *max)
            }
            Repr::Layout { text: Some(text), fault } => {
                write!(f, "layout {}: {fault}", Quoted(text))
            }
            Repr::Layout { text: None, fault } => write!(f, "layout: {fault}"),
            Repr::IdText { form, text, fault } => {
                write!(f, "{} is not an ID in {form}: {fault}", Quoted(text))
            }
            Repr::IdBits { id, stray, layout } => write!(
                f,
                "{id} is not an ID of the layout {layout}: it has bits set outside that layout's \
                 fields ({stray:#018x})"
            ),
            Repr::Option { name, reason } => spelling.write_reason(f, *name, reason),
            Repr::ClockRollback { by, .. } => write!(
                f,
                "the clock went back by {} ms; no ID is issued until it has caught up (configure NTP to slew \
                 the clock, not to step it, or choose another rollback policy)",
                whole_ms(*by)
            ),
            Repr::SequenceExhausted { retry_after } => write!(
                f,
                "every sequence number of the current tick is used up; the next is free in {} ms",
                whole_ms(*retry_after)
            ),
            Repr::Horizon { horizon } => write!(
                f,
                "the layout's time field ran out at {}; old IDs still decode, new ones need \
                 another layout or a later epoch",
                Rfc3339::with_fewest_digits(*horizon)
            ),
            Repr::BeforeEpoch { by, epoch } => {
                let now = epoch.saturating_sub_unsigned(whole_ms(*by));
                write!(
                    f,
                    "the clock reads {}, which is before the layout's epoch, {}; set the clock",
                    Rfc3339::with_fewest_digits(now),
                    Rfc3339::with_fewest_digits(*epoch)
                )
            }
            Repr::Closed => f.write_str("the generator was retired; build a new one"),
            Repr::Forked => f.write_str(
                "this node belongs to the parent process, which may still use it; after fork, \
                 build a generator with a node of its own",
            ),
            Repr::RingEmpty { .. } => {
                f.write_str("the ring is empty and is being refilled; retry, or wait with next_id")
            }
            Repr::LeaseExpired { .. } => {
                f.write_str("the granted window of ticks is used up and was not extended in time")
            }
            Repr::Other(other) => f.write_str(&other.message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self})", self.code())
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        let Repr::Other(other) = &self.0 else { return None };
        let Cause(cause) = other.cause.as_ref()?;
        Some(&**cause)
    }
}
