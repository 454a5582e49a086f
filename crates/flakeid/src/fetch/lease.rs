//! A lease as its host uses it.

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

/// A node that is leased from a broker, by requests that the host sends; the [module](super) says how.
/// IDs are issued in the confirmed window alone, and strictly increase.
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
    /// Whether the last call failed for want of a window.
    lacks_window: Cell<bool>,
}

impl FetchLease {
    /// A lease from the brokers at a URL: `https://one,two:7117/`, with the token in it
    /// (`https://:TOKEN@host`) or among the options. Sends nothing.
    ///
    /// # Errors
    /// [`InvalidOption`](ErrorKind::InvalidOption) and
    /// [`FieldOutOfRange`](ErrorKind::FieldOutOfRange) for options that cannot be;
    /// [`InvalidLayout`](ErrorKind::InvalidLayout) if the layout only decodes.
    pub fn open(url: &str, given: FetchOptions) -> Result<Self, Error> {
        if !host::is_random() {
            let reason = "the host has not said where random numbers come from";
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
        let lacks_window = Cell::new(true);
        Ok(Self { keeper, given, is_closing: false, is_ended: false, lacks_window })
    }

    /// Time has passed, or somebody needs a window, or the lease was closed.
    pub fn wake(&mut self) {
        if !self.is_ended {
            self.keeper.wake(self.is_closing);
        }
    }

    /// What to send now.
    pub fn request(&mut self) -> Option<HttpRequest> {
        match self.keeper.request()? {
            Ok(request) => Some(request),
            Err(fault) => {
                self.answered(Err(fault.to_string()));
                None
            }
        }
    }

    /// What came of the [`request`](Self::request): an answer, or why there is none.
    pub fn answered(&mut self, answer: Result<HttpAnswer, String>) {
        let Some((demand, reply)) = self.keeper.answered(answer) else { return };
        let adopted = match granted_layout(&reply) {
            Some(layout) if !self.keeper.is_of_layout() => self.adopt(layout),
            _ => Ok(()),
        };
        match adopted {
            Ok(()) => self.keeper.replied(&demand, reply),
            // The namespace is not for these options. What was granted expires unused.
            Err(error) => {
                let text = format!("the namespace is for another layout than the options: {error}");
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

    /// Whether it was closed, and nothing is left to be sent.
    pub fn is_ended(&mut self) -> bool {
        self.is_ended |= self.is_closing && self.keeper.is_ended();
        self.is_ended
    }

    /// How long nothing is due, if nobody asks.
    pub fn rest(&mut self) -> Duration {
        self.keeper.rest()
    }

    /// What is left of the pause after a failure, however many ask.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.keeper.pause()
    }

    /// Ends the lease: every later call is [`Closed`](ErrorKind::Closed). The node is given back by the
    /// next [`request`](Self::request).
    pub const fn close(&mut self) {
        self.is_closing = true;
    }

    /// A call of the generator in the present window.
    ///
    /// # Errors
    /// As the call; [`LeaseExpired`](ErrorKind::LeaseExpired) if the window has ended and was not
    /// renewed; [`Closed`](ErrorKind::Closed); without a node, why there is none.
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
            // It has ended, and the next one has not begun.
            ErrorKind::Closed => self.why(),
            _ => error,
        })
    }

    /// Why there is no window.
    #[must_use]
    pub fn why(&self) -> Error {
        let last = self.keeper.progress().status.last_error.clone();
        last.unwrap_or_else(|| unanswered(&self.keeper.place()))
    }

    /// Whether the last call failed for want of a window, so that it is worth waiting for one.
    #[must_use]
    pub const fn lacks_window(&self) -> bool {
        self.lacks_window.get() && !self.is_closing
    }

    /// Whether waiting on for `left` is in vain.
    #[must_use]
    pub fn is_in_vain(&self, left: Duration) -> bool {
        self.keeper.progress().is_hopeless(left)
    }

    /// How many attempts to acquire or renew have ended, and how many of them took effect.
    #[must_use]
    pub const fn attempts_and_gains(&self) -> (u64, u64) {
        (self.keeper.progress().attempts, self.keeper.progress().gains)
    }

    /// What happened to the lease since this was asked last, one at a time.
    pub fn next_event(&mut self) -> Option<LeaseEvent> {
        self.keeper.events.pop_front()
    }

    /// How the lease stands.
    #[must_use]
    pub const fn status(&self) -> &LeaseStatus {
        &self.keeper.progress().status
    }

    /// What happened besides issuing IDs since the node was acquired.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.keeper.generator.as_ref().map(Generator::stats).unwrap_or_default()
    }

    /// The node in the IDs now. It changes when the node is lost.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.keeper.generator.as_ref().map_or(0, Generator::node)
    }

    /// The layout of the IDs.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.keeper.options.layout
    }

    /// How long a call waits without issuing an ID.
    #[must_use]
    pub const fn max_wait(&self) -> Duration {
        self.keeper.options.max_wait
    }

    /// How long opening may take.
    #[must_use]
    pub const fn open_timeout(&self) -> Duration {
        self.keeper.options.max_wait.saturating_add(CONNECT_TIMEOUT)
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
