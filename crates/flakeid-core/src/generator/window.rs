use crate::layout::check;
use crate::{Error, Layout};

/// The half-open range of ticks `[start, fence)` that a lease grants and that a generator may use.
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
    /// The shortest length of a window, in ticks.
    pub const SHORTEST: u64 = 2;

    /// Creates a window from the tick `start`, inclusive, to the tick `fence`, exclusive. The window must be at least
    /// two ticks long, because the first tick may be about to end.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::ErrorKind::InvalidOption) if the window is shorter than two ticks.
    pub fn new(start: u64, fence: u64) -> Result<Self, Error> {
        if fence.checked_sub(start).is_none_or(|length| length < Self::SHORTEST) {
            return Err(Error::invalid_option(
                "window",
                &alloc::format!(
                    "the range from {start} to {fence} is too short; a window must be at least {} ticks long",
                    Self::SHORTEST
                ),
            ));
        }
        Ok(Self { start, fence })
    }

    /// The first tick of the window.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The tick after the last tick of the window.
    #[must_use]
    pub const fn fence(&self) -> u64 {
        self.fence
    }

    /// Checks that the layout has the window's first tick. The window may end after the layout's last tick, because
    /// generators stop at the end of the layout.
    pub(super) fn check(self, layout: &Layout) -> Result<(), Error> {
        check("window_start", self.start, layout.max_tick())
    }
}
