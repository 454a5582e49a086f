//! The native side of a ring buffer of IDs.

use std::cell::RefCell;
use std::sync::Arc;

use flakeid::CachedGenerator;
use flakeid_core::{Error, ErrorKind, Id, RingOptions, RingStats};

use crate::handle::Handle;
use crate::slots::NextId;

/// A ring of IDs from one generator. The ring cannot leave the thread of its environment.
pub(crate) struct Cached {
    /// The ring or, after the ring has been closed, its final counts.
    ring: RefCell<Result<Ring, RingStats>>,
    capacity: u64,
}

struct Ring {
    cached: CachedGenerator,
    /// The handle of the generator, which records whether the generator has been closed.
    handle: Arc<Handle>,
}

impl Cached {
    /// Opens and fills a ring. First generates an ID and discards it, in order to wait until the generator's first
    /// tick begins. The wait is never longer than the time for which a ring may block the event loop.
    pub(crate) fn open(handle: &Arc<Handle>, options: RingOptions) -> Result<Self, Error> {
        let generator = handle.generator()?;
        match handle.on_loop() {
            Some(_) => generator.next_id_within(handle.on_ring())?,
            None => generator.next_id()?,
        };
        let cached = CachedGenerator::with(generator, options)?;
        let capacity = cached.capacity();
        let ring = Ring { cached, handle: Arc::clone(handle) };
        Ok(Self { ring: RefCell::new(Ok(ring)), capacity })
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn stats(&self) -> RingStats {
        self.ring.borrow().as_ref().map_or_else(|last| *last, |ring| ring.cached.stats())
    }

    /// Closes the ring, and waits for the ring's thread to end. The wait takes up to 10 ms, or longer if the thread is
    /// running a handler.
    pub(crate) fn close(&self) {
        let mut ring = self.ring.borrow_mut();
        let Ok(stats) = ring.as_ref().map(|ring| ring.cached.stats()) else { return };
        *ring = Err(stats);
    }

    #[inline]
    fn take_by(&self, take: impl FnOnce(&Ring) -> Result<Id, Error>) -> Result<Id, Error> {
        match &*self.ring.borrow() {
            Ok(ring) => {
                ring.handle.generator()?;
                take(ring)
            }
            Err(_) => Err(closed()),
        }
    }
}

impl NextId for Cached {
    #[inline]
    fn next_id(&self) -> Result<Id, Error> {
        self.take_by(|ring| ring.cached.next_id_within(ring.handle.on_ring()))
    }

    /// Returns the next ID from the ring without waiting for a refill.
    #[inline]
    fn try_next_id(&self) -> Result<Id, Error> {
        self.take_by(|ring| ring.cached.take())
    }
}

#[cold]
fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the ring was closed", None)
}
