use core::any::Any;
use core::time::Duration;

use super::{Clock, CoarseClock, GatedClock, SystemClock};
use crate::options::impl_by_name;

/// The system clocks, identified by name, for options that are set as strings.
///
/// ```
/// use flakeid_core::{Generator, Layout, NamedClock};
///
/// let clock: NamedClock = "coarse".parse()?;
/// assert_eq!(clock.name(), "coarse");
/// let generator = Generator::builder(Layout::TWITTER).node(7).clock(clock).build()?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NamedClock {
    /// [`SystemClock`], which is exact to the millisecond.
    System,
    /// [`CoarseClock`], which lags behind the system clock by a few milliseconds.
    Coarse,
    /// [`GatedClock`], the default clock of generators. This clock is exact to the millisecond, and on processors with
    /// a suitable counter it is cheaper to read than [`SystemClock`].
    #[default]
    Gated,
}

impl NamedClock {
    /// All named clocks.
    pub const ALL: [Self; 3] = [Self::System, Self::Coarse, Self::Gated];

    /// The name of the clock in options: `system`, `coarse` or `gated`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Coarse => "coarse",
            Self::Gated => "gated",
        }
    }

    /// Returns the `NamedClock` for `clock`, if `clock` is one of the system clocks.
    #[inline]
    pub(crate) fn from_any(clock: &dyn Any) -> Option<Self> {
        if clock.is::<SystemClock>() {
            Some(Self::System)
        } else if clock.is::<CoarseClock>() {
            Some(Self::Coarse)
        } else if clock.is::<GatedClock>() {
            Some(Self::Gated)
        } else {
            clock.downcast_ref().copied()
        }
    }
}

impl_by_name!(NamedClock, "clock", "system, coarse or gated");

/// Reads the clock with this name. A generator treats a `NamedClock` like the clock that it names.
impl Clock for NamedClock {
    fn unix_ms(&self) -> i64 {
        match self {
            Self::System => SystemClock.unix_ms(),
            Self::Coarse => CoarseClock.unix_ms(),
            Self::Gated => GatedClock.unix_ms(),
        }
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        SystemClock.wait_until(unix_ms, at_most)
    }
}
