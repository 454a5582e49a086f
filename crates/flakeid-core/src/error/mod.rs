//! The error type that all language bindings share.

mod kind;
mod reasons;
mod spelled;
mod spelling;

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::calendar::{Rfc3339, whole_ms};
pub use kind::ErrorKind;
pub(crate) use reasons::{LayoutFault, TextFault};
pub use spelled::SpelledError;
use spelling::Named;
pub use spelling::Spelling;

use crate::quoted::Quoted;

/// An error from any function of this library: a kind, a human-readable message, and the time to wait before a retry,
/// if waiting can help.
///
/// Errors on the hot path (a full tick, a clock that went backwards, the end of a window) do not allocate memory.
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
        range: Box<OutOfRange>,
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
    /// The first tick that a generator may use has not begun.
    BeforeFirstTick {
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

/// A value that is out of range, and the range.
#[derive(Clone, PartialEq, Eq)]
struct OutOfRange {
    value: Box<str>,
    min: u64,
    max: u64,
    remedy: Option<&'static str>,
}

#[derive(Clone, PartialEq, Eq)]
struct Other {
    kind: ErrorKind,
    message: Box<str>,
    retry_after: Option<Duration>,
    /// The name of a function that the caller can call instead of following the message.
    function: Option<&'static str>,
    cause: Option<Cause>,
}

/// The cause of an error. All causes compare as equal, so that errors with the same message are equal even if their
/// causes differ.
#[derive(Clone)]
struct Cause(Arc<dyn core::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl Error {
    /// Creates an error of any kind with the given message, for crates that depend on this crate.
    #[must_use]
    pub fn new(kind: ErrorKind, message: &str, retry_after: Option<Duration>) -> Self {
        let (message, function, cause) = (message.into(), None, None);
        Self(Repr::Other(Box::new(Other { kind, message, retry_after, function, cause })))
    }

    /// Sets the [source](core::error::Error::source) of an error that [`new`](Self::new) created.
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

    /// Creates the error for a field whose `value` is not within `min..=max`. `value` can have any printable type, so
    /// that bindings can report numbers that do not fit into an unsigned 64-bit integer, such as −1 and 2^64.
    #[must_use]
    pub fn field_out_of_range(
        field: &'static str,
        value: &dyn fmt::Display,
        min: u64,
        max: u64,
    ) -> Self {
        Self::out_of_range(Named::Field(field), value, min, max)
    }

    /// Creates the error for an option whose `value` is not within `min..=max`. [`spelled`](Self::spelled) writes the
    /// option's name in the caller's spelling.
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
        let value = excerpt(&value.to_string());
        Self(Repr::Field { name, range: Box::new(OutOfRange { value, min, max, remedy: None }) })
    }

    /// Adds a remedy to the error for a value that is out of range. Option names in `remedy` are in backticks, as in
    /// the reason of [`invalid_option`](Self::invalid_option).
    ///
    /// ```
    /// let error = flakeid_core::Error::option_out_of_range("window_ms", &60_000, 2, 10_000);
    /// let error = error.with_remedy("`max_window_ms` sets the maximum");
    /// assert!(error.to_string().ends_with("must be from 2 to 10000; `max_window_ms` sets the maximum"));
    /// ```
    #[must_use]
    pub fn with_remedy(mut self, remedy: &'static str) -> Self {
        if let Repr::Field { range, .. } = &mut self.0 {
            range.remedy = Some(remedy);
        }
        self
    }

    /// Creates the error for an invalid option. `reason` states why the option is invalid, and names a remedy.
    ///
    /// Option names in `reason` are in backticks, as in "requires `worker`", so that [`spelled`](Self::spelled) can
    /// replace the names.
    #[must_use]
    pub fn invalid_option(option: &'static str, reason: &str) -> Self {
        Self(Repr::Option { name: Named::Option(option), reason: reason.into() })
    }

    /// Creates the error for an invalid field of an ID, or for another invalid argument that is not an option. `reason`
    /// has the same form as in [`invalid_option`](Self::invalid_option).
    #[must_use]
    pub fn invalid_field(field: &'static str, reason: &str) -> Self {
        Self(Repr::Option { name: Named::Field(field), reason: reason.into() })
    }

    /// Returns the error with its subject changed from an ID field to the option of the same name.
    #[must_use]
    pub fn of_option(mut self) -> Self {
        if let Repr::Field { name, .. } | Repr::Option { name, .. } = &mut self.0 {
            *name = Named::Option(name.canonical());
        }
        self
    }

    /// Adds a function that the caller can call instead of following the message of an error that [`new`](Self::new)
    /// created. [`spelled`](Self::spelled) names the function if [`Spelling::fields`] contains it.
    ///
    /// ```
    /// use flakeid_core::{Error, ErrorKind, Spelling};
    ///
    /// let error = Error::new(ErrorKind::StoreRejected, "run `flakeid leases init`", None);
    /// let error = error.or_call("create_namespace");
    /// let go = Spelling { options: &[], fields: &[("create_namespace", "CreateNamespace")] };
    /// assert_eq!(error.spelled(&go).to_string(), "run `flakeid leases init`, or call `CreateNamespace`");
    /// assert_eq!(error.to_string(), "run `flakeid leases init`");
    /// ```
    #[must_use]
    pub fn or_call(mut self, function: &'static str) -> Self {
        if let Repr::Other(other) = &mut self.0 {
            other.function = Some(function);
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

    pub(crate) const fn before_first_tick(retry_after: Duration) -> Self {
        Self(Repr::BeforeFirstTick { retry_after })
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

    /// The kind of the error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match &self.0 {
            Repr::Field { .. } => ErrorKind::FieldOutOfRange,
            Repr::Layout { .. } => ErrorKind::InvalidLayout,
            Repr::IdText { .. } | Repr::IdBits { .. } => ErrorKind::InvalidId,
            Repr::Option { .. } => ErrorKind::InvalidOption,
            Repr::ClockRollback { .. } => ErrorKind::ClockRollback,
            Repr::SequenceExhausted { .. } | Repr::BeforeFirstTick { .. } => {
                ErrorKind::SequenceExhausted
            }
            Repr::Horizon { .. } => ErrorKind::HorizonReached,
            Repr::BeforeEpoch { .. } => ErrorKind::BeforeEpoch,
            Repr::Closed => ErrorKind::Closed,
            Repr::Forked => ErrorKind::Forked,
            Repr::RingEmpty { .. } => ErrorKind::RingEmpty,
            Repr::LeaseExpired { .. } => ErrorKind::LeaseExpired,
            Repr::Other(other) => other.kind,
        }
    }

    /// The code string of the error's kind, `FLAKEID_…`, which is the same in every language.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// The time after which the same call may succeed; `None` if waiting does not help.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match &self.0 {
            Repr::ClockRollback { retry_after, .. }
            | Repr::SequenceExhausted { retry_after }
            | Repr::BeforeFirstTick { retry_after }
            | Repr::RingEmpty { retry_after }
            | Repr::LeaseExpired { retry_after } => Some(*retry_after),
            Repr::BeforeEpoch { by, .. } => Some(*by),
            Repr::Other(other) => other.retry_after,
            _ => None,
        }
    }

    /// The duration by which the clock went backwards; `None` unless the kind is [`ErrorKind::ClockRollback`].
    #[must_use]
    pub const fn rollback(&self) -> Option<Duration> {
        match &self.0 {
            Repr::ClockRollback { by, .. } => Some(*by),
            _ => None,
        }
    }

    /// The instant at which the layout's ticks ran out, in Unix milliseconds; `None` unless the kind is
    /// [`ErrorKind::HorizonReached`].
    #[must_use]
    pub const fn horizon(&self) -> Option<i64> {
        match &self.0 {
            Repr::Horizon { horizon } => Some(*horizon),
            _ => None,
        }
    }

    /// The name of the invalid field or option; `None` unless the kind is [`ErrorKind::FieldOutOfRange`].
    #[must_use]
    pub const fn field(&self) -> Option<&'static str> {
        match &self.0 {
            Repr::Field { name, .. } => Some(name.canonical()),
            _ => None,
        }
    }
}

/// Shortens a string that a message quotes, because input strings may be arbitrarily long.
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
            Repr::Field { name, range } => {
                let OutOfRange { value, min, max, remedy } = &**range;
                spelling.write_out_of_range(f, *name, value, *min, *max)?;
                remedy.map_or(Ok(()), |remedy| spelling.write_remedy(f, *name, remedy))
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
                "the clock went backwards by {} ms; no ID is issued until it has caught up (to go on at once, use another \
                 node: choose one, or restart the process if it leases its node; configure NTP to slew the clock \
                 instead of stepping it, or choose another rollback policy)",
                whole_ms(*by)
            ),
            Repr::SequenceExhausted { retry_after } => write!(
                f,
                "every sequence number of the current tick is used up; the next number is free in {} ms",
                whole_ms(*retry_after)
            ),
            Repr::BeforeFirstTick { retry_after } => write!(
                f,
                "the generator's first tick begins in {} ms, because earlier ticks may contain IDs of another \
                 process; retry then, or call `{}`, which waits at most `{}`",
                whole_ms(*retry_after),
                spelling.name(Named::Field("next_id")),
                spelling.option("max_wait_ms")
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
            Repr::RingEmpty { .. } => f.write_str(
                "the ring is empty and is being refilled; retry, or call next_id, which waits",
            ),
            Repr::LeaseExpired { .. } => {
                f.write_str("the granted window of ticks is used up and was not extended in time")
            }
            Repr::Other(other) => spelling.write_message(f, &other.message, other.function),
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
