//! The lock-free ring buffer, with one producer and any number of takers.

use alloc::boxed::Box;

use crate::sync::{AtomicU64, Ordering};

/// A value on a cache line of its own, because takers and the producer fetch these lines constantly.
#[repr(align(128))]
struct Padded(AtomicU64);

/// A buffer of IDs in the order in which they were put. Places are counted from the first ID ever put and never wrap (2^64
/// places last for centuries), so a compare-and-swap cannot confuse two laps of the ring; the slot of a place is its
/// remainder.
///
/// `cursor` is the place of the next ID to take, `tail` the place after the last ID put:
/// `cursor <= tail <= cursor + capacity`.
pub(super) struct Buffer {
    cursor: Padded,
    tail: Padded,
    slots: Box<[AtomicU64]>,
}

/// The right to put IDs; every buffer has exactly one producer.
pub(super) struct Producer {
    tail: u64,
}

/// The ID that was at the front, with the data to check that it still is.
pub(super) struct Front {
    cursor: u64,
    tail: u64,
    pub(super) id: u64,
}

impl Front {
    /// The number of IDs after this one.
    pub(super) const fn behind(&self) -> u64 {
        self.tail - self.cursor - 1
    }

    /// Whether the cursor has not moved between the two readings.
    pub(super) const fn is_at(&self, other: &Self) -> bool {
        self.cursor == other.cursor
    }
}

impl Buffer {
    /// Creates a buffer and its producer. `capacity` is a power of two.
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

    /// The number of IDs in the buffer at the time of the call.
    pub(super) fn len(&self) -> u64 {
        let cursor = self.cursor.0.load(Ordering::Acquire);
        self.tail.0.load(Ordering::Acquire).saturating_sub(cursor).min(self.capacity())
    }

    /// The number of IDs that were taken or skipped.
    pub(super) fn gone(&self) -> u64 {
        self.cursor.0.load(Ordering::Relaxed)
    }

    /// Reads the ID at the front without taking it.
    #[inline]
    pub(super) fn front(&self) -> Option<Front> {
        // Acquire: the thread that moved the cursor had seen a tail beyond it, and this thread must see that tail, too.
        // Otherwise an old tail could make a full ring look empty.
        let cursor = self.cursor.0.load(Ordering::Acquire);
        // Acquire, so that the IDs below the tail, which were written before it was published, are visible.
        let tail = self.tail.0.load(Ordering::Acquire);
        if cursor >= tail {
            return None;
        }
        // Relaxed, because the slot was written before the tail. It may belong to a later lap if the cursor has moved in
        // the meantime; the swap that takes it then fails.
        let id = self.slot(cursor).load(Ordering::Relaxed);
        Some(Front { cursor, tail, id })
    }

    /// Takes the ID at the front, unless another thread took it first.
    #[inline]
    pub(super) fn take(&self, front: &Front) -> bool {
        self.advance(front, 1)
    }

    /// Removes all IDs from the front on for which `is_stale` holds (IDs increase, so the stale ones come first). Returns
    /// their number, or `None` if another thread moved the cursor first.
    pub(super) fn skip(&self, front: &Front, is_stale: impl Fn(u64) -> bool) -> Option<u64> {
        let (mut stale, mut fresh) = (0, front.tail - front.cursor);
        while stale < fresh {
            let middle = stale + (fresh - stale) / 2;
            // As in `front`, the value is right if the swap succeeds.
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
        // Release: the slots were read before the cursor moved, so the producer, which acquires the cursor, writes them
        // afterwards. An unchanged cursor proves that no thread has taken these IDs and, because the producer stays one lap
        // behind it, that the producer has not overwritten them. Later swaps by other threads continue the release sequence.
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
    /// Returns the number of IDs for which the buffer has room.
    pub(super) fn room(&self, buffer: &Buffer) -> u64 {
        // Acquire, because the thread that moved the cursor has read the slots before it.
        let cursor = buffer.cursor.0.load(Ordering::Acquire);
        buffer.capacity() - (self.tail - cursor)
    }

    /// Appends `ids`; there must be enough [`room`](Self::room).
    pub(super) fn put(&mut self, buffer: &Buffer, ids: impl ExactSizeIterator<Item = u64>) {
        debug_assert!(ids.len() as u64 <= self.room(buffer));
        for id in ids {
            // Relaxed, because the tail publishes the slot.
            buffer.slot(self.tail).store(id, Ordering::Relaxed);
            self.tail += 1;
        }
        // Release, so that a thread that loads the tail sees the slots below it. One store publishes all of them.
        buffer.tail.0.store(self.tail, Ordering::Release);
    }
}
