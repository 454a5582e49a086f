//! The rule for members without a window: a member that can reach a broker that can serve gets a window again within
//! 1 s of the end of its window.

use crate::broker::Phase;
use crate::event::Event;
use crate::liveness::{CORRECT_MS, NEVER};
use crate::network::Link;
use crate::world::World;

/// The longest time for which such a member may be without a window, in milliseconds.
const LONGEST_GAP_MS: u64 = 1_000;
/// The time before the end of a window from which a broker must have been reachable and able to serve, in milliseconds:
/// a window of 4 s and the time limit of a renewal.
const SETTLE_MS: u64 = 5_000;
/// The same time for a broker that became reachable later, counted from then. A member that has found no broker waits
/// up to 2.5 s for each of two silent brokers, and up to 2.4 s before it tries again.
const RETURN_MS: u64 = 9_000;
/// The interval of the checks, in milliseconds.
const CHECK_EVERY_MS: u64 = 250;

impl World {
    /// Records that a member has a window until a time.
    pub fn has_window_until(&mut self, member: usize, ends: u64) {
        if !self.members[member].runs {
            return;
        }
        let ended = self.liveness.ends[member];
        if ended < self.now {
            self.check_gap(member, ended);
        }
        // A member whose generator has ended is without a window from now on, or for as long as before.
        self.liveness.ends[member] = ends.max(ended.min(self.now));
    }

    pub fn check_liveness(&mut self) {
        for member in 0..self.members.len() {
            let ended = self.liveness.ends[member];
            if ended.saturating_add(LONGEST_GAP_MS) < self.now {
                self.check_gap(member, ended);
            }
        }
        self.queue.push(self.now + CHECK_EVERY_MS, Event::CheckLiveness);
    }

    /// Checks a member whose window ended at `ended`, and who has had no window since.
    fn check_gap(&mut self, member: usize, ended: u64) {
        let known = &self.members[member];
        let since = self.served_since(member).max(known.good_since);
        let is_settled = since.saturating_add(SETTLE_MS) <= ended;
        let returned = if is_settled { ended } else { since.saturating_add(RETURN_MS) };
        let gap = self.now.saturating_sub(ended.max(returned));
        self.liveness.longest = self.liveness.longest.max(gap);
        if gap > LONGEST_GAP_MS {
            self.violate(format!(
                "member {member} has had no window since {ended} ms, although a broker could serve it since {since} ms"
            ));
        }
    }

    /// Returns the time since which a member can reach a broker that can serve.
    fn served_since(&self, member: usize) -> u64 {
        let zone = self.members[member].zone as usize;
        let since = self.brokers.iter().zip(&self.network.of_members).map(|(broker, links)| {
            let (link, since) = links[zone];
            let link = if link == Link::Intact { since } else { NEVER };
            broker.good_since.unwrap_or(NEVER).max(link)
        });
        since.min().unwrap_or(NEVER).max(self.store.settles_at)
    }

    /// Records whether a broker can serve, after its state has changed.
    pub fn refresh(&mut self, broker: usize) {
        let known = &mut self.brokers[broker];
        let is_good = known.phase == Phase::Open
            && !known.is_paused
            && known.clock.unsigned_abs() <= CORRECT_MS
            && self.store.clock.unsigned_abs() <= CORRECT_MS
            && !self.store.is_down
            && self.network.of_brokers[broker] == Link::Intact;
        known.good_since = if is_good { known.good_since.or(Some(self.now)) } else { None };
    }
}
