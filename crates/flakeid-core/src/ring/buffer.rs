//! The ring itself: one producer, any number of takers, no lock.

use alloc::boxed::Box;

use crate::sync::{AtomicU64, Ordering};

/// Apart from anything else that is written: takers and the producer fetch these lines all the time.
#[repr(align(128))]
struct Padded(AtomicU64);

/// IDs in the order in which they were put. Places are counted from the first ID ever put and never
/// start over (2^64 of them last for centuries), so a compare-and-swap cannot mistake one lap of the
/// ring for another; the slot of a place is its remainder.
///
/// `cursor` is the place of the next ID to take, `tail` the place after the last ID put:
/// `cursor <= tail <= cursor + capacity`.
pub(super) struct Buffer {
    cursor: Padded,
    tail: Padded,
    slots: Box<[AtomicU64]>,
}

/// The right to put, of which every buffer has one.
pub(super) struct Producer {
    tail: u64,
}

/// The ID that was at the front, and whatever takes it needs to know that it still is.
pub(super) struct Front {
    cursor: u64,
    tail: u64,
    pub(super) id: u64,
}

impl Front {
    /// How many IDs are left behind it.
    pub(super) const fn behind(&self) -> u64 {
        self.tail - self.cursor - 1
    }

    /// Whether the cursor has not moved between the two.
    pub(super) const fn is_at(&self, other: &Self) -> bool {
        self.cursor == other.cursor
    }
}

impl Buffer {
    /// `capacity` is a power of two.
    pub(super) fn new(capacity: u64) -> (Self, Producer) {
        debug_assert!(capacity.is_power_of_two());
        let slots = (0..capacity).map(|_| AtomicU64::new(0)).collect();
        let zero = || Padded(AtomicU64::new(0));
        (Self { cursor: zero(), tail: zero(), slots }, Producer { tail: 0 })
    }

    #[inline]
    fn slot(&self, place: u64) -> &AtomicU64 {
        &self.slots[place as usize & (self.slots.len() - 1)]
    }

    pub(super) fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    /// How many IDs there were to take.
    pub(super) fn len(&self) -> u64 {
        let cursor = self.cursor.0.load(Ordering::Acquire);
        self.tail.0.load(Ordering::Acquire).saturating_sub(cursor).min(self.capacity())
    }

    /// How many IDs have left, by whatever way.
    pub(super) fn gone(&self) -> u64 {
        self.cursor.0.load(Ordering::Relaxed)
    }

    /// Reads the ID at the front without taking it.
    #[inline]
    pub(super) fn front(&self) -> Option<Front> {
        // Acquire: whoever moved the cursor had seen a tail beyond it, and now this thread sees it
        // too; otherwise an old tail could pass a full ring off as empty.
        let cursor = self.cursor.0.load(Ordering::Acquire);
        // Acquire: the IDs below the tail were written before it was published.
        let tail = self.tail.0.load(Ordering::Acquire);
        if cursor >= tail {
            return None;
        }
        // Relaxed: written before the tail was. It may be of a later lap if the cursor has moved on
        // meanwhile; then the swap that takes it fails.
        let id = self.slot(cursor).load(Ordering::Relaxed);
        Some(Front { cursor, tail, id })
    }

    /// Takes the ID at the front, unless another thread has been faster.
    #[inline]
    pub(super) fn take(&self, front: &Front) -> bool {
        self.advance(front, 1)
    }

    /// Takes away every ID from the front on for which `is_stale` holds (IDs rise, so those are the
    /// first ones). `None` if another thread has been faster, otherwise how many.
    pub(super) fn skip(&self, front: &Front, is_stale: impl Fn(u64) -> bool) -> Option<u64> {
        let (mut stale, mut fresh) = (0, front.tail - front.cursor);
        while stale < fresh {
            let middle = stale + (fresh - stale) / 2;
            // As in `front`: right if the swap succeeds.
            if is_stale(self.slot(front.cursor + middle).load(Ordering::Relaxed)) {
                stale = middle + 1;
            } else {
                fresh = middle;
            }
        }
        self.advance(front, stale).then_some(stale)
    }

    #[inline]
    fn advance(&self, front: &Front, count: u64) -> bool {
        // Release: the slots were read before the cursor moved, so the producer, which acquires the
        // cursor, writes them after that. A cursor that is where it was proves that nobody has
        // taken these IDs and, as the producer keeps a lap behind it, that nobody has overwritten
        // them. Later swaps by others carry the release on.
        self.cursor
            .0
            .compare_exchange(
                front.cursor,
                front.cursor + count,
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }
}

impl Producer {
    /// How many IDs there is room for.
    pub(super) fn room(&self, buffer: &Buffer) -> u64 {
        // Acquire: whoever moved the cursor has read the slots before it.
        let cursor = buffer.cursor.0.load(Ordering::Acquire);
        buffer.capacity() - (self.tail - cursor)
    }

    /// Puts `ids` behind those that are there; there must be [`room`](Self::room).
    pub(super) fn put(&mut self, buffer: &Buffer, ids: impl ExactSizeIterator<Item = u64>) {
        debug_assert!(ids.len() as u64 <= self.room(buffer));
        for id in ids {
            // Relaxed: the tail publishes it.
            buffer.slot(self.tail).store(id, Ordering::Relaxed);
            self.tail += 1;
        }
        // Release: who sees the tail sees the slots below it. One store for all of them.
        buffer.tail.0.store(self.tail, Ordering::Release);
    }
}
