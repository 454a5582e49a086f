//! Copies of the ring with one deliberate bug each, for the loom models.

use alloc::boxed::Box;

use loom::sync::atomic::{AtomicU64, Ordering};

pub(super) const CAPACITY: u64 = 2;

/// The operations of a ring that the models use. The IDs are 1, 2, 3 … in the order in which they are put into the
/// ring.
pub(super) trait Subject: Send + Sync + 'static {
    type Producer: Send + 'static;
    fn take(&self) -> Option<u64>;
    /// Removes the IDs up to `bound` from the front of the ring.
    fn skip(&self, bound: u64);
    /// Puts the next IDs into the ring, until the ring is full or contains `last`. Returns the last ID that has been
    /// put into the ring so far.
    fn put(&self, producer: &mut Self::Producer, last: u64) -> u64;
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Flaw {
    /// Moves the cursor with a separate load and store instead of a compare-and-swap.
    PlainStore,
    /// Publishes the tail before the slots are written.
    EarlyTail,
    /// Checks whether the ring contains an ID, and then moves the cursor without another check, as Baidu's ring buffer
    /// does.
    CheckedApart,
    /// Puts one ID too many into a full ring.
    Overfull,
    /// Reads the slot after the cursor has moved.
    LateRead,
    /// Resets the cursor to 0 after every lap.
    Lapping,
    /// Skips IDs by moving the cursor, without checking that the skipped IDs are still in the ring.
    BlindSkip,
}

pub(super) struct Twin {
    cursor: AtomicU64,
    tail: AtomicU64,
    slots: Box<[AtomicU64]>,
    flaw: Flaw,
}

impl Twin {
    pub(super) fn new(flaw: Flaw) -> (Self, u64) {
        let slots = (0..CAPACITY).map(|_| AtomicU64::new(0)).collect();
        let twin = Self { cursor: AtomicU64::new(0), tail: AtomicU64::new(0), slots, flaw };
        (twin, 0)
    }

    fn slot(&self, place: u64) -> &AtomicU64 {
        &self.slots[(place % CAPACITY) as usize]
    }
}

impl Subject for Twin {
    type Producer = u64;

    fn take(&self) -> Option<u64> {
        loop {
            let cursor = self.cursor.load(Ordering::Acquire);
            if cursor >= self.tail.load(Ordering::Acquire) {
                return None;
            }
            let id = self.slot(cursor).load(Ordering::Acquire);
            match self.flaw {
                Flaw::PlainStore => {
                    self.cursor.store(cursor + 1, Ordering::Release);
                    return Some(id);
                }
                Flaw::CheckedApart => {
                    let cursor = self.cursor.fetch_add(1, Ordering::AcqRel);
                    return Some(self.slot(cursor).load(Ordering::Acquire));
                }
                _ => {}
            }
            // With `Flaw::Lapping`, only the cursor wraps around. The tail does not have to wrap around, because the
            // model of this bug fills the ring only once.
            let next = match self.flaw {
                Flaw::Lapping => (cursor + 1) % CAPACITY,
                _ => cursor + 1,
            };
            if self
                .cursor
                .compare_exchange(cursor, next, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            {
                return Some(match self.flaw {
                    Flaw::LateRead => self.slot(cursor).load(Ordering::Acquire),
                    _ => id,
                });
            }
        }
    }

    fn skip(&self, bound: u64) {
        let cursor = self.cursor.load(Ordering::Acquire);
        let tail = self.tail.load(Ordering::Acquire);
        let stale = (cursor..tail)
            .take_while(|place| self.slot(*place).load(Ordering::Acquire) <= bound)
            .count() as u64;
        self.cursor.fetch_add(stale, Ordering::AcqRel);
    }

    fn put(&self, put: &mut u64, last: u64) -> u64 {
        let cursor = self.cursor.load(Ordering::Acquire);
        let over = u64::from(self.flaw == Flaw::Overfull);
        let end = last.min(cursor + CAPACITY + over);
        if self.flaw == Flaw::EarlyTail {
            self.tail.store(end, Ordering::Release);
        }
        for place in *put..end {
            self.slot(place).store(place + 1, Ordering::Release);
        }
        self.tail.store(end, Ordering::Release);
        *put = end;
        end
    }
}
