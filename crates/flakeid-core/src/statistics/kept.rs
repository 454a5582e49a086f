//! A collection that keeps a limited number of IDs and counts repeated IDs.

use alloc::vec::Vec;

/// All added IDs, or no IDs if more IDs were added than the limit allows.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    ids: Vec<u64>,
    /// The number of IDs for which memory is allocated.
    room: usize,
    most: usize,
    /// Whether more than `most` IDs were added. In that case, no IDs are kept.
    too_many: bool,
}

impl Kept {
    pub(super) const fn new(most: usize) -> Self {
        Self { ids: Vec::new(), room: 0, most, too_many: false }
    }

    #[inline]
    pub(super) fn add(&mut self, id: u64) {
        if self.ids.len() == self.room {
            self.make_room();
        }
        if !self.too_many {
            self.ids.push(id);
        }
    }

    /// Doubles the allocated memory, but not beyond the limit. If the limit is already reached, drops all IDs instead.
    /// A `Vec` that grows on its own could allocate up to twice as much memory as the limit allows.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.room == self.most {
            self.too_many = true;
            self.ids = Vec::new();
        } else {
            self.room = (2 * self.room).max(1 << 10).min(self.most);
            self.ids.reserve_exact(self.room - self.ids.len());
        }
    }

    /// Returns the number of repeated IDs, or `None` if more IDs were added than the limit allows.
    pub(super) fn repeats(&mut self) -> Option<u64> {
        if self.too_many {
            return None;
        }
        // Each call sorts the IDs, because IDs may have been added out of order since the previous call.
        self.ids.sort_unstable();
        Some(self.ids.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
    }

    /// The number of IDs for which memory is allocated.
    #[cfg(test)]
    pub(super) const fn capacity(&self) -> usize {
        self.ids.capacity()
    }
}
