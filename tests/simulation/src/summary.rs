//! The figures of a simulation.

/// The counts of a simulation, and a digest of all its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub events: u64,
    pub renewals: u64,
    pub grants: u64,
    pub faults: u64,
    /// The longest time for which a member had no window although it should have had one, in milliseconds.
    pub longest_gap_ms: u64,
    /// A hash of all windows in their order. Equal seeds give equal digests.
    pub digest: u64,
}

impl Summary {
    pub fn note_begin(&mut self, now: u64, member: usize, node: u64, start: u64, fence: u64) {
        self.grants += 1;
        self.mix([now, member as u64, node, start, fence]);
    }

    pub fn note_renewal(&mut self, now: u64, member: usize, fence: u64) {
        self.renewals += 1;
        self.mix([now, member as u64, fence]);
    }

    pub fn note_end(&mut self, now: u64, member: usize, used_until: u64) {
        self.mix([now, member as u64, used_until, 1]);
    }

    pub fn note_fault(&mut self, now: u64, kind: u64) {
        self.faults += 1;
        self.mix([now, kind]);
    }

    fn mix<const N: usize>(&mut self, values: [u64; N]) {
        for value in values {
            self.digest = (self.digest ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        }
    }
}
