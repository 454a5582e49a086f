//! A lease whose requests are sent by the program's host environment.

use std::cell::Cell;
use std::time::Duration;

use flakeid_core::{Error, ErrorKind, Generator, Layout, Stats};

use super::host;
use super::keeper::{FetchKeeper, check, granted_layout};
use super::options::FetchOptions;
use flakeid_protocol::http::{Brokers, HttpAnswer, HttpRequest};
use flakeid_protocol::keeper::{LeaseEvent, LeaseStatus, unanswered, used_up};
use flakeid_protocol::random::fraction;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault};

/// A node that is leased from a broker through requests that the host sends, as the [module](super) describes. The
/// IDs strictly increase, and are issued only within the confirmed window.
///
/// ```
/// use flakeid::fetch::{FetchLease, FetchOptions, set_host_random};
///
/// # fn random() -> u128 { 7 }
/// set_host_random(random); // `crypto.getRandomValues` in JavaScript
/// let mut lease = FetchLease::open("https://ids.example:7117", FetchOptions::new(None))?;
/// lease.wake();
/// let request = lease.request().expect("a node is requested");
/// assert_eq!(request.method, "POST");
/// assert_eq!(request.url, "https://ids.example:7117/v1/default/leases");
///
/// lease.answered(Err("the network is down".into()));
/// assert!(lease.run(|generator| generator.next_id()).is_err());
/// # Ok::<(), flakeid::Error>(())
/// ```
pub struct FetchLease {
    keeper: FetchKeeper,
    given: FetchOptions,
    is_closing: bool,
    is_ended: bool,
    /// Whether the last call failed because the lease had no window. Initially true.
    lacks_window: Cell<bool>,
    open_wait: Duration,
}

impl FetchLease {
    /// Opens a lease from the brokers at a URL, such as `https://one,two:7117/`, without sending a request. The
    /// brokers' token can be part of the URL (`https://:TOKEN@host`) or an option.
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) and [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) for invalid
    /// options; [`InvalidLayout`](ErrorKind::InvalidLayout) if the layout can only decode IDs.
    pub fn open(url: &str, given: FetchOptions) -> Result<Self, Error> {
        if !host::is_random() {
            let reason = "the host has not set a source of random numbers";
            return Err(Error::invalid_option("store", reason));
        }
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        if !is_http {
            let reason = "must be the URL of a broker: http://host:port or https://host:port";
            return Err(Error::invalid_option("store", reason));
        }
        let read = given.read(given.layout().unwrap_or_default())?;
        if given.layout().is_some() {
            check(&read.options)?;
        }
        let rejected = |fault: Fault| Error::invalid_option("store", &fault.to_string());
        let (brokers, shown) =
            Brokers::read(url, read.token, fraction(host::random())).map_err(rejected)?;
        let is_of_layout = given.layout().is_some();
        let keeper = FetchKeeper::new(read.options, is_of_layout, shown, brokers);
        Ok(Self {
            keeper,
            given,
            is_closing: false,
            is_ended: false,
            lacks_window: Cell::new(true),
            open_wait: read.open_wait,
        })
    }

    /// Prepares the next [`request`](Self::request) if one is due. The host calls this method when [`rest`](Self::rest)
    /// has elapsed, when a caller needs a window, and after closing the lease.
    pub fn wake(&mut self) {
        if !self.is_ended {
            self.keeper.wake(self.is_closing);
        }
    }

    /// Returns the request that the host must send now, or `None` if no request is due.
    pub fn request(&mut self) -> Option<HttpRequest> {
        match self.keeper.request()? {
            Ok(request) => Some(request),
            Err(fault) => {
                self.answered(Err(fault.to_string()));
                None
            }
        }
    }

    /// Processes the response to the [`request`](Self::request), or the error message if the request failed.
    pub fn answered(&mut self, answer: Result<HttpAnswer, String>) {
        let Some((demand, reply)) = self.keeper.answered(answer) else { return };
        let adopted = match granted_layout(&reply) {
            Some(layout) if !self.keeper.is_of_layout() => self.adopt(layout),
            _ => Ok(()),
        };
        match adopted {
            Ok(()) => self.keeper.replied(&demand, reply),
            // The options are invalid for the namespace's layout, so the granted node is not used, and its lease
            // expires.
            Err(error) => {
                let text =
                    format!("the options are incompatible with the namespace's layout: {error}");
                self.keeper.replied(&demand, Err(Fault::Rejected(text)));
            }
        }
    }

    fn adopt(&mut self, layout: Layout) -> Result<(), Error> {
        let read = self.given.read(layout)?;
        check(&read.options)?;
        self.keeper.adopt(read.options);
        Ok(())
    }

    /// Whether the lease has been closed and all its requests have been sent.
    pub fn is_ended(&mut self) -> bool {
        self.is_ended |= self.is_closing && self.keeper.is_ended();
        self.is_ended
    }

    /// Returns the time until the host must call [`wake`](Self::wake). The call is due earlier if a caller needs a
    /// window.
    pub fn rest(&mut self) -> Duration {
        self.keeper.rest()
    }

    /// Returns the remaining time of the pause after a failure. During the pause, the host does not call
    /// [`wake`](Self::wake), even if a caller needs a window.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.keeper.pause()
    }

    /// Closes the lease: every later call fails with [`Closed`](ErrorKind::Closed). The next
    /// [`request`](Self::request) releases the node.
    pub const fn close(&mut self) {
        self.is_closing = true;
    }

    /// Runs `call` with the lease's generator.
    ///
    /// # Errors
    /// The error that `call` returns; [`LeaseExpired`](ErrorKind::LeaseExpired) if the window has ended without a
    /// renewal; [`Closed`](ErrorKind::Closed) if the lease was closed; the error from [`why`](Self::why) if the lease
    /// has no node.
    pub fn run<T>(&self, call: impl FnOnce(&Generator) -> Result<T, Error>) -> Result<T, Error> {
        if self.is_closing {
            return Err(Error::new(ErrorKind::Closed, "the lease was closed", None));
        }
        self.lacks_window.set(true);
        let Some(generator) = &self.keeper.generator else { return Err(self.why()) };
        let made = call(generator);
        let kind = made.as_ref().err().map(Error::kind);
        self.lacks_window.set(matches!(kind, Some(ErrorKind::LeaseExpired | ErrorKind::Closed)));
        made.map_err(|error| match error.kind() {
            ErrorKind::LeaseExpired => used_up(&self.why()),
            // The previous generator has ended, and a new node has not been granted yet.
            ErrorKind::Closed => self.why(),
            _ => error,
        })
    }

    /// Returns the next ID if the generator can issue the ID at the given time of the system clock, in Unix milliseconds,
    /// without applying all rules. Otherwise returns `None`, and the caller uses [`run`](Self::run). This method exists
    /// only on `wasm32-unknown-unknown`, where it costs less than `run`.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    #[expect(
        clippy::inline_always,
        reason = "the binding is compiled for speed, unlike this crate"
    )]
    #[inline(always)]
    #[must_use]
    pub fn next_id_at(&self, unix_ms: i64) -> Option<flakeid_core::Id> {
        if self.is_closing {
            return None;
        }
        let id = self.keeper.generator.as_ref()?.next_id_at(unix_ms)?;
        self.lacks_window.set(false);
        Some(id)
    }

    /// Returns the error that explains why the lease has no window.
    #[must_use]
    pub fn why(&self) -> Error {
        let last = self.keeper.progress().status.last_error.clone();
        last.unwrap_or_else(|| unanswered(&self.keeper.place()))
    }

    /// Whether the last call failed because the lease had no window. If so, the caller can wait for a window and try
    /// again.
    #[must_use]
    pub const fn lacks_window(&self) -> bool {
        self.lacks_window.get() && !self.is_closing
    }

    /// Whether the latest error shows that the lease cannot get a window within the time `left`.
    #[must_use]
    pub fn cannot_succeed(&self, left: Duration) -> bool {
        self.keeper.progress().cannot_succeed_within(left)
    }

    /// Returns the number of completed attempts to acquire or renew a node, and the number of grants and renewals that
    /// took effect.
    #[must_use]
    pub const fn attempts_and_gains(&self) -> (u64, u64) {
        (self.keeper.progress().attempts, self.keeper.progress().gains)
    }

    /// Removes and returns the oldest pending event of the lease.
    pub fn next_event(&mut self) -> Option<LeaseEvent> {
        self.keeper.next_event()
    }

    /// The state of the lease.
    #[must_use]
    pub const fn status(&self) -> &LeaseStatus {
        &self.keeper.progress().status
    }

    /// Returns the counters of waits and clock rollbacks since the node was acquired.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.keeper.generator.as_ref().map(Generator::stats).unwrap_or_default()
    }

    /// The node in the lease's IDs, or 0 before the first grant. The node changes when the lease loses its current node
    /// to another process.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.keeper.generator.as_ref().and_then(Generator::node).unwrap_or_default()
    }

    /// The layout of the lease's IDs.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.keeper.options.layout
    }

    /// The longest time that a call waits for an ID.
    #[must_use]
    pub const fn max_wait(&self) -> Duration {
        self.keeper.options.max_wait
    }

    /// The longest time that opening the lease may take. It becomes longer while the store grants nothing for a while,
    /// for example after a restart.
    #[must_use]
    pub fn open_timeout(&self) -> Duration {
        let timeout = self.keeper.options.max_wait.saturating_add(CONNECT_TIMEOUT);
        if self.keeper.progress().is_passing() { timeout.max(self.open_wait) } else { timeout }
    }
}

impl std::fmt::Debug for FetchLease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FetchLease")
            .field("broker", &self.keeper.place())
            .field("options", &self.keeper.options)
            .field("status", &self.keeper.progress().status)
            .finish_non_exhaustive()
    }
}
