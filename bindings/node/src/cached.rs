use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::{CachedGenerator, Error, ErrorKind, Id, RingOptions, RingStats};
use flakeid_lease::LeasedCachedGenerator;

use crate::desk::Maker;
use crate::handle::{Handle, Leased};

/// A ring over a generator. It stays in its environment's thread.
pub(crate) struct Cached {
    ring: RefCell<Result<Ring, RingStats>>,
    capacity: u64,
    /// The longest wait on the event loop.
    on_loop: Duration,
}

enum Ring {
    Fixed(CachedGenerator),
    /// And what says whether it was closed.
    Leased(LeasedCachedGenerator, Arc<Leased>),
}

impl Cached {
    /// Fills the ring. One ID is used up first, because it waits for the generator's first tick no
    /// longer than the event loop may.
    pub(crate) fn open(handle: &Handle, options: RingOptions) -> Result<Self, Error> {
        let (ring, capacity, on_loop) = match handle {
            Handle::Fixed(fixed) => {
                match fixed.on_loop {
                    Some(_) => fixed.generator.next_id_within(fixed.on_ring)?,
                    None => fixed.generator.next_id()?,
                };
                let cached = CachedGenerator::with(Arc::clone(&fixed.generator), options)?;
                let capacity = cached.capacity();
                (Ring::Fixed(cached), capacity, fixed.on_ring)
            }
            Handle::Leased(leased) => {
                leased.lease.ask(|generator| generator.next_id_within(leased.on_ring))?;
                let generator = Arc::clone(leased.lease.generator());
                let cached = LeasedCachedGenerator::with(generator, options)?;
                let capacity = cached.capacity();
                (Ring::Leased(cached, Arc::clone(leased)), capacity, leased.on_ring)
            }
        };
        Ok(Self { ring: RefCell::new(Ok(ring)), capacity, on_loop })
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn stats(&self) -> RingStats {
        self.ring.borrow().as_ref().map_or_else(|last| *last, Ring::stats)
    }

    /// Ends the ring, and waits for its thread: at most 10 ms, and until a handler has been told.
    pub(crate) fn close(&self) {
        let mut ring = self.ring.borrow_mut();
        let Ok(stats) = ring.as_ref().map(Ring::stats) else { return };
        *ring = Err(stats);
    }
}

impl Ring {
    fn stats(&self) -> RingStats {
        match self {
            Self::Fixed(cached) => cached.stats(),
            Self::Leased(cached, _) => cached.stats(),
        }
    }
}

impl Maker for Cached {
    #[inline]
    fn next_id(&self) -> Result<Id, Error> {
        match &*self.ring.borrow() {
            Ok(Ring::Fixed(cached)) => cached.next_id_within(self.on_loop),
            Ok(Ring::Leased(cached, leased)) => {
                leased.lease.ask(|_| cached.next_id_within(self.on_loop))
            }
            Err(_) => Err(closed()),
        }
    }

    /// What the ring has.
    #[inline]
    fn try_next_id(&self) -> Result<Id, Error> {
        match &*self.ring.borrow() {
            Ok(Ring::Fixed(cached)) => cached.take(),
            Ok(Ring::Leased(cached, leased)) => leased.lease.ask(|_| cached.take()),
            Err(_) => Err(closed()),
        }
    }
}

#[cold]
fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the ring was closed", None)
}
