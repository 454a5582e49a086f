//! The home of a generator: its tenures, and the source of further tenures if the node is leased.

#![allow(unsafe_code)]
#![expect(clippy::inline_always, reason = "another call would add a tenth to the cost of an ID")]

use alloc::sync::Arc;
use core::any::Any;
use core::ptr;
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::Instant;

use super::{Generator, Tenure};
use crate::sync::{AtomicPtr, HAS_NATIVE_PARTS, Ordering};
use crate::{Error, ErrorKind};

/// A source of the tenures of leased generators. The keeper of a lease is a source. Several generators can share a
/// source.
pub trait TenureSource: Any + Send + Sync {
    /// The tenure of the most recent grant, even if the grant has ended; `None` before the first grant. The source
    /// keeps its tenures as long as it exists.
    fn newest(&self) -> Option<&Arc<Tenure>>;

    /// Whether this process has been granted a node. A forked child has none before its own first grant.
    fn has_node(&self) -> bool;

    /// Returns the number of grants and renewals so far in this process. If necessary, begins to lease a node.
    ///
    /// # Errors
    /// The reason why no node can be leased.
    fn gains(&self) -> Result<u64, Error>;

    /// Waits until the number of grants and renewals exceeds `since`. Requests a grant or a renewal if necessary. The
    /// newest tenure has ended with an error of the given `kind`: `LeaseExpired`, `Closed` or `Forked`.
    ///
    /// # Errors
    /// The reason why there was no grant or renewal within `timeout`.
    fn gain(&self, since: u64, kind: ErrorKind, timeout: Duration) -> Result<(), Error>;

    /// Returns the pause after which a caller that must not block its thread should repeat its call, or `None` if
    /// [`gain`](Self::gain) would not wait any longer. `waited` is the time since the caller's first attempt.
    fn pause(&self, waited: Duration, max_wait: Duration) -> Option<Duration>;

    /// Ends the use of the source by one generator, or only waits for the end if the generator `has_left` already.
    fn leave(&self, has_left: bool);
}

/// A call that is repeated on a newer tenure, and waits at most the given time.
type Retried<'a, T> = dyn FnMut(&Arc<Tenure>, Duration) -> Result<T, Error> + 'a;

pub(super) struct Home {
    /// The tenure that was used last, or null after a leased generator has been closed. If the tenure has ended in the
    /// meantime, a call on it fails and is repeated on the newest tenure.
    current: AtomicPtr<Tenure>,
    /// The first tenure, which is the only tenure of a generator on a fixed node.
    first: Arc<Tenure>,
    /// The source of further tenures; `None` if the node is fixed.
    source: Option<Arc<dyn TenureSource>>,
}

impl Home {
    fn new(first: Arc<Tenure>, source: Option<Arc<dyn TenureSource>>) -> Self {
        Self { current: AtomicPtr::new(Arc::as_ptr(&first).cast_mut()), first, source }
    }

    #[inline(always)]
    pub(super) fn first(&self) -> &Arc<Tenure> {
        &self.first
    }

    /// The source of further tenures; `None` if the node is fixed.
    #[inline(always)]
    fn source(&self) -> Option<&Arc<dyn TenureSource>> {
        // Web pages have no leases, so they do not download the code for leases.
        if HAS_NATIVE_PARTS { self.source.as_ref() } else { None }
    }

    /// Closes a leased generator. Has no effect on a fixed node.
    pub(super) fn close(&self) {
        if let Some(source) = self.source() {
            let current = self.current.swap(ptr::null_mut(), Ordering::AcqRel);
            source.leave(current.is_null());
        }
    }
}

/// Sets the pointer to `newest`, unless it is null. Returns `false` if the pointer is null, and leaves it null, because
/// the generator has been closed.
pub(super) fn adopt<T>(current: &AtomicPtr<T>, newest: *mut T) -> bool {
    let mut seen = current.load(Ordering::Acquire);
    while !seen.is_null() && seen != newest {
        match current.compare_exchange(seen, newest, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(changed) => seen = changed,
        }
    }
    !seen.is_null()
}

impl Drop for Home {
    fn drop(&mut self) {
        self.close();
    }
}

impl From<Tenure> for Generator {
    /// Creates a generator on a fixed node, whose only tenure is `tenure`.
    fn from(tenure: Tenure) -> Self {
        Self(Arc::new(Home::new(Arc::new(tenure), None)))
    }
}

impl Generator {
    /// Creates a generator whose first tenure is `first`, and whose further tenures come from `source`.
    #[doc(hidden)]
    #[must_use]
    pub fn leased(first: Arc<Tenure>, source: Arc<dyn TenureSource>) -> Self {
        Self(Arc::new(Home::new(first, Some(source))))
    }

    /// The source of the tenures, or `None` if the node is fixed.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn source(&self) -> Option<&Arc<dyn TenureSource>> {
        self.0.source()
    }

    /// The newest tenure, even if it has ended.
    pub(super) fn latest(&self) -> &Arc<Tenure> {
        self.source().and_then(|source| source.newest()).unwrap_or(&self.0.first)
    }

    /// The tenure that was used last, or `None` after a leased generator has been closed.
    #[inline(always)]
    pub(super) fn current(&self) -> Option<&Tenure> {
        // SAFETY: the pointer is null or points to a tenure that `first` or `source` lent to this home, which keeps
        // both as long as it exists. The load uses `Acquire`, so that a thread that
        // sees the pointer also sees the tenure's contents.
        unsafe { self.0.current.load(Ordering::Acquire).as_ref() }
    }

    /// Whether `tenure` is the tenure that was used last, and the generator is open.
    #[inline(always)]
    pub(crate) fn uses(&self, tenure: &Arc<Tenure>) -> bool {
        ptr::eq(self.0.current.load(Ordering::Acquire), Arc::as_ptr(tenure))
    }

    /// Whether a leased generator was closed.
    #[doc(hidden)]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.current.load(Ordering::Acquire).is_null()
    }

    /// Whether the node is leased.
    #[inline]
    #[must_use]
    pub fn is_leased(&self) -> bool {
        self.source().is_some()
    }

    /// Runs `call` on the tenure that was used last or, if that tenure has ended, on a newer one.
    pub(super) fn run<T>(
        &self,
        max_wait: Duration,
        mut call: impl FnMut(&Tenure, Duration) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.current().ok_or_else(Self::ended).and_then(|tenure| call(tenure, max_wait)) {
            Ok(done) => Ok(done),
            Err(error) => self.recover(error, max_wait, &mut |newer, left| call(newer, left)),
        }
    }

    /// Runs `call` on the newest tenure or, if that tenure has ended, on one that is newer still.
    pub(crate) fn run_on_newest<T>(
        &self,
        max_wait: Duration,
        call: &mut Retried<'_, T>,
    ) -> Result<T, Error> {
        match self.newest().and_then(|tenure| call(tenure, max_wait)) {
            Ok(done) => Ok(done),
            Err(error) => self.recover(error, max_wait, call),
        }
    }

    /// Returns the newest tenure, and makes it the one that was used last.
    pub(super) fn newest(&self) -> Result<&Arc<Tenure>, Error> {
        let newest = self.latest();
        let adopted = adopt(&self.0.current, Arc::as_ptr(newest).cast_mut());
        if adopted { Ok(newest) } else { Err(Self::ended()) }
    }

    #[cold]
    pub(crate) fn ended() -> Error {
        Error::new(ErrorKind::Closed, "the lease was closed", None)
    }

    /// Repeats a call that failed at the end of a window or a tenure, or in a forked child. Waits for a grant or a
    /// renewal if necessary. Returns all other errors unchanged, and all errors of a generator on a fixed node.
    #[cold]
    #[cfg(feature = "std")]
    pub(crate) fn recover<T>(
        &self,
        mut error: Error,
        max_wait: Duration,
        retry: &mut Retried<'_, T>,
    ) -> Result<T, Error> {
        let Some(source) = self.source() else { return Err(error) };
        let has_ended = |error: &Error| {
            matches!(error.kind(), ErrorKind::LeaseExpired | ErrorKind::Closed | ErrorKind::Forked)
        };
        let mut begun = None;
        let mut left = || max_wait.saturating_sub(begun.get_or_insert_with(Instant::now).elapsed());
        while has_ended(&error) {
            if self.is_closed() {
                return Err(Self::ended());
            }
            // The number of grants and renewals is read before the call is repeated, so that a grant during the call is
            // not missed.
            let gains = source.gains()?;
            error = match retry(self.newest()?, left()) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            if has_ended(&error) {
                source.gain(gains, error.kind(), left())?;
            }
        }
        Err(error)
    }

    #[cold]
    #[cfg(not(feature = "std"))]
    pub(crate) fn recover<T>(
        &self,
        error: Error,
        _max_wait: Duration,
        _retry: &mut Retried<'_, T>,
    ) -> Result<T, Error> {
        Err(error)
    }
}
