//! The IDs themselves, kept to count those that come again, up to a limit.

use alloc::vec::Vec;

/// The IDs themselves, unless there are more than the limit.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    ids: Vec<u64>,
    /// For so many IDs there is room.
    room: usize,
    most: usize,
    /// Whether there were more than `most`; then none are kept.
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

    /// Twice as much, but never more than the limit: a `Vec` by itself reserves up to twice that.
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

    /// How many of them had come before; `None` if there were too many.
    pub(super) fn repeats(&mut self) -> Option<u64> {
        if self.too_many {
            return None;
        }
        // In this order nothing can be found out about IDs that are added now; they are sorted anew.
        self.ids.sort_unstable();
        Some(self.ids.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
    }

    /// How many IDs there is memory for.
    #[cfg(test)]
    pub(super) const fn capacity(&self) -> usize {
        self.ids.capacity()
    }
}
