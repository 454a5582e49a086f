use crate::layout::check;
use crate::{Error, Layout};

/// The half-open range of ticks `[start, fence)` that a generator may use: what a lease grants.
///
/// ```
/// use flakeid_core::{ErrorKind, Generator, Layout, ManualClock, Window};
///
/// let generator = Generator::builder(Layout::TWITTER)
///     .node(7)
///     .window(Window::new(1000, 2000)?)
///     .clock(ManualClock::new(Layout::TWITTER.unix_ms_at(2000)))
///     .build()?;
/// assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::LeaseExpired);
/// generator.extend(3000)?;
/// assert_eq!(Layout::TWITTER.unpack(generator.next_id()?)?.tick, 2000);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    start: u64,
    fence: u64,
}

impl Window {
    /// The least length of a window, in ticks.
    pub const SHORTEST: u64 = 2;

    /// From `start`, inclusive, to `fence`, exclusive, both in ticks; at least two ticks long, so
    /// that a tick which is just ending is never all of it.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if it is shorter.
    pub fn new(start: u64, fence: u64) -> Result<Self, Error> {
        if fence.checked_sub(start).is_none_or(|length| length < Self::SHORTEST) {
            return Err(Error::invalid_option(
                "window",
                &alloc::format!(
                    "from {start} to {fence} is too short: it must be at least {} ticks",
                    Self::SHORTEST
                ),
            ));
        }
        Ok(Self { start, fence })
    }

    /// The first tick.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The tick after the last one.
    #[must_use]
    pub const fn fence(&self) -> u64 {
        self.fence
    }

    /// A window may end beyond the layout's ticks (they end first), but must begin within them.
    pub(super) fn check(self, layout: &Layout) -> Result<(), Error> {
        check("window_start", self.start, layout.max_tick())
    }
}
