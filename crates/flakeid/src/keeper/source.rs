//! The clock of a lease, and the source of its connections to the store.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::internal::named_clock;
use flakeid_core::{Clock, Error, NamedClock, SystemClock};

use flakeid_protocol::Lessor;
use flakeid_protocol::store::Fault;
use flakeid_stores::Location;

type Opener = dyn Fn() -> Result<Box<dyn Lessor>, Fault> + Send + Sync;

/// The source of a lease's connections to the store: a location, or a function that opens a connection.
#[derive(Clone)]
pub(crate) enum StoreSource {
    Location(Location),
    Opener(Arc<Opener>),
}

impl StoreSource {
    pub(crate) fn connect(&self, clock: &Arc<dyn Clock>) -> Result<Box<dyn Lessor>, Fault> {
        match self {
            Self::Location(location) => location.connect_lessor(clock),
            Self::Opener(open) => open(),
        }
    }

    /// Whether the store may consist of several brokers. If so, another broker can grant a new node when the current
    /// node's broker does not renew the lease.
    pub(crate) fn has_several_lessors(&self) -> bool {
        matches!(self, Self::Location(location) if location.may_be_several_brokers())
    }
}

impl fmt::Display for StoreSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Location(location) => location.fmt(f),
            Self::Opener(_) => f.write_str("the store"),
        }
    }
}

/// The clock of a lease. If the clock is one of flakeid's system clocks, generators read it through a `NamedClock`,
/// which is faster than other clocks. In that case, times that are not part of an ID are read from the exact
/// `SystemClock`.
#[derive(Clone)]
pub(crate) struct LeaseClock {
    pub(crate) exact: Arc<dyn Clock>,
    pub(crate) system: Option<NamedClock>,
}

impl LeaseClock {
    pub(crate) fn new(clock: impl Clock) -> Self {
        let system = named_clock(&clock);
        let exact: Arc<dyn Clock> =
            if system.is_some() { Arc::new(SystemClock) } else { Arc::new(clock) };
        Self { exact, system }
    }

    /// Reads the clock, in Unix milliseconds.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the program's own clock panics.
    pub(crate) fn unix_ms(&self) -> Result<i64, Error> {
        catch_unwind(AssertUnwindSafe(|| self.exact.unix_ms())).map_err(|panic| {
            Error::invalid_option("clock", &format!("panicked: {}", panic_text(&*panic)))
        })
    }
}

/// Returns the message of a panic, without its location, which the panic hook has already reported.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no text)")
}

impl Default for LeaseClock {
    fn default() -> Self {
        Self::new(NamedClock::default())
    }
}

/// A wrapper that implements `Clock` for a shared clock.
pub(crate) struct SharedClock(pub(crate) Arc<dyn Clock>);

impl Clock for SharedClock {
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        self.0.wait_until(unix_ms, at_most)
    }
}
