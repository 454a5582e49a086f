//! A lock-free ring buffer with one producer and any number of takers.

use alloc::boxed::Box;

use crate::sync::{AtomicU64, Ordering};

/// An integer in its own cache line. The takers and the producer constantly access the cursor and the tail, and sharing
/// a cache line would slow down these accesses.
#[repr(align(128))]
struct Padded(AtomicU64);

/// A ring buffer that contains IDs in the order in which they were added. The place of an ID is the number of IDs added
/// before it. Places never wrap around, because 2^64 places last for centuries. A compare-and-swap therefore cannot
/// confuse two laps of the ring. The index of an ID's slot is the place modulo the capacity.
///
/// `cursor` is the place of the next ID to take, and `tail` is the place after the last ID added: `cursor <= tail <=
/// cursor + capacity`.
pub(super) struct Buffer {
    cursor: Padded,
    tail: Padded,
    slots: Box<[AtomicU64]>,
}

/// The exclusive right to put IDs into a buffer. Every buffer has exactly one producer.
pub(super) struct Producer {
    tail: u64,
}

/// A snapshot of the buffer: the cursor, the tail, and the ID at the front.
pub(super) struct Front {
    cursor: u64,
    tail: u64,
    pub(super) id: u64,
}

impl Front {
    /// The number of IDs in the buffer after the front ID.
    pub(super) const fn behind(&self) -> u64 {
        self.tail - self.cursor - 1
    }

    /// Whether the cursor is the same in both snapshots.
    pub(super) const fn is_at(&self, other: &Self) -> bool {
        self.cursor == other.cursor
    }
}

impl Buffer {
    /// Creates a buffer and its producer. `capacity` must be a power of two.
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

    /// The number of IDs that have been taken or skipped so far.
    pub(super) fn gone(&self) -> u64 {
        self.cursor.0.load(Ordering::Relaxed)
    }

    /// Reads the ID at the front without taking it.
    #[inline]
    pub(super) fn front(&self) -> Option<Front> {
        // The acquire load ensures that the tail that this thread loads is not older than the tail that the previous
        // taker loaded. With an older tail, a full ring could look empty.
        let cursor = self.cursor.0.load(Ordering::Acquire);
        // The acquire load makes the IDs below the tail visible, because the producer wrote them before it published
        // the tail.
        let tail = self.tail.0.load(Ordering::Acquire);
        if cursor >= tail {
            return None;
        }
        // A relaxed load suffices, because the slot was written before the tail was published. If the cursor has moved
        // in the meantime, the slot may contain a newer ID, but then the swap that takes the ID fails.
        let id = self.slot(cursor).load(Ordering::Relaxed);
        Some(Front { cursor, tail, id })
    }

    /// Takes the ID at the front. Returns false if another thread has moved the cursor in the meantime.
    #[inline]
    pub(super) fn take(&self, front: &Front) -> bool {
        self.advance(front, 1)
    }

    /// Removes the IDs at the front for which `is_stale` returns true. A binary search finds the first fresh ID,
    /// because the IDs increase. Returns the number of removed IDs, or `None` if another thread has moved the cursor in
    /// the meantime.
    pub(super) fn skip(&self, front: &Front, is_stale: impl Fn(u64) -> bool) -> Option<u64> {
        let (mut stale, mut fresh) = (0, front.tail - front.cursor);
        while stale < fresh {
            let middle = stale + (fresh - stale) / 2;
            // The slot may already contain a newer ID. In that case, the swap below fails, and the search result has no
            // effect.
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
        // If the cursor is unchanged, no other thread has taken these IDs. The producer cannot have overwritten the
        // slots either, because it stays within one lap of the cursor. The swap has release ordering, and the producer
        // loads the cursor with acquire ordering. The producer therefore overwrites the slots only after this thread
        // has read the slots. Later swaps by other threads continue the release sequence, and so preserve this
        // guarantee.
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
        // The acquire load ensures that the takers have read the slots below the cursor before this thread overwrites
        // them.
        let cursor = buffer.cursor.0.load(Ordering::Acquire);
        buffer.capacity() - (self.tail - cursor)
    }

    /// Appends `ids`. The buffer must have enough [`room`](Self::room).
    pub(super) fn put(&mut self, buffer: &Buffer, ids: impl ExactSizeIterator<Item = u64>) {
        debug_assert!(ids.len() as u64 <= self.room(buffer));
        for id in ids {
            // A relaxed store suffices, because the store of the tail publishes the slot.
            buffer.slot(self.tail).store(id, Ordering::Relaxed);
            self.tail += 1;
        }
        // The release store publishes all new slots: a thread that loads this tail also sees the slots below the tail.
        buffer.tail.0.store(self.tail, Ordering::Release);
    }
}
