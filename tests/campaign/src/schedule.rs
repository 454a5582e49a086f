//! The faults of a campaign: all of them drawn from the seed before it begins.

use crate::board::GROUPS;
use crate::dice::Dice;
use crate::fault::{Blow, Setting, Trouble};
use crate::terms::{MAX_SKEW_MS, MAX_WINDOW_MS};

/// The furthest step of a clock, in milliseconds.
pub(crate) const FURTHEST_STEP_MS: u64 = 1 << 15;

/// What the store is like, as far as the faults depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terrain<'a> {
    /// Every worker has the one clock of its host, which is the store's as well.
    pub(crate) one_clock: bool,
    /// What can be done to the store.
    pub(crate) troubles: &'a [Trouble],
    /// The mean time between two of them, in milliseconds.
    pub(crate) trouble_every_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// When in milliseconds from the beginning, and what; in order.
    pub(crate) blows: Vec<(u64, Blow)>,
    /// The same, with how long it lasts and which group it concerns.
    pub(crate) troubles: Vec<(u64, Trouble, u64, usize)>,
}

/// About so much time lies between two blows.
const BLOW_EVERY_MS: u64 = 36;

impl Schedule {
    pub(crate) fn draw(seed: u64, seconds: u64, workers: usize, terrain: Terrain<'_>) -> Self {
        let end = seconds * 1000;
        let (mut blows, mut troubles) = (Vec::new(), Vec::new());
        let mut dice = Dice::for_part(seed, 1);
        // Only then does the one clock of all go far ahead. What it made the store promise is over
        // after as many seconds as it was ahead, so not at the end.
        let far_ahead = end / 2..end * 3 / 4;
        let mut at = 500;
        while at < end {
            blows.push((at, blow(&mut dice, far_ahead.contains(&at), workers, terrain)));
            at += dice.among(1..2 * BLOW_EVERY_MS);
        }
        let mut dice = Dice::for_part(seed, 2);
        let mut at = 1000;
        // Each kind in turn before chance decides, so that a short run has them all.
        let mut turn = 0;
        while at < end {
            let choices: Vec<Trouble> = terrain
                .troubles
                .iter()
                .copied()
                // A copy is older than what a clock that was ahead may have made the store
                // promise, and there nobody else's clock bounds it: no store can know.
                .filter(|trouble| {
                    !(terrain.one_clock && *trouble == Trouble::Restored && at >= end / 2)
                })
                .collect();
            if choices.is_empty() {
                break;
            }
            let pick =
                if turn < choices.len() { turn } else { dice.next() as usize % choices.len() };
            turn += 1;
            let group = dice.among(0..GROUPS as u64) as usize;
            troubles.push((at, choices[pick], dice.among(200..1500), group));
            at += dice.among(terrain.trouble_every_ms / 2..terrain.trouble_every_ms * 3 / 2);
        }
        Self { blows, troubles }
    }
}

fn blow(dice: &mut Dice, far_ahead: bool, workers: usize, terrain: Terrain<'_>) -> Blow {
    let slot = dice.among(0..workers as u64) as usize;
    let clocks = if terrain.one_clock { 10 } else { 15 };
    let roll = dice.among(0..100);
    if roll < clocks {
        let group = dice.among(0..GROUPS as u64) as usize;
        let setting = match dice.among(0..10) {
            0 => Setting::Year1970,
            1 => Setting::Year2080,
            _ => Setting::Off(step(dice, far_ahead, terrain)),
        };
        return Blow::Clock { group, setting, for_ms: dice.among(50..400) };
    }
    match (roll - clocks) * 100 / (100 - clocks) {
        0..30 => Blow::Kill { slot, children: false, rest_ms: dice.among(0..400) },
        30..38 => Blow::Kill { slot, children: true, rest_ms: dice.among(0..400) },
        38..52 => Blow::Restart { slot, rest_ms: dice.among(0..400) },
        _ => Blow::Pause { slot, for_ms: dice.among(20..3 * MAX_WINDOW_MS) },
    }
}

/// Near and far ones, forward and back.
fn step(dice: &mut Dice, far_ahead: bool, terrain: Terrain<'_>) -> i64 {
    let back = dice.percent(50);
    // Where the one clock is the store's too, restored copies come first and far steps forward
    // later: see `Schedule::draw`.
    let furthest = match (terrain.one_clock, far_ahead, back) {
        (true, false, false) => MAX_SKEW_MS,
        _ => FURTHEST_STEP_MS,
    };
    let reach = if dice.percent(40) { furthest } else { furthest.min(2000) };
    let ms = dice.among(1..reach + 1).cast_signed();
    if back { -ms } else { ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERRAIN: Terrain<'_> = Terrain {
        one_clock: false,
        troubles: &[Trouble::Paused, Trouble::Killed, Trouble::Restored],
        trouble_every_ms: 3000,
    };

    #[test]
    fn a_seed_gives_one_schedule() {
        assert_eq!(Schedule::draw(1, 30, 12, TERRAIN), Schedule::draw(1, 30, 12, TERRAIN));
        assert_ne!(Schedule::draw(1, 30, 12, TERRAIN), Schedule::draw(2, 30, 12, TERRAIN));
    }

    #[test]
    fn half_a_minute_has_500_faults_of_every_kind() {
        let schedule = Schedule::draw(7, 30, 12, TERRAIN);
        assert!(schedule.blows.len() >= 500, "{}", schedule.blows.len());
        for name in ["killed", "restarted", "stopped", "clock stepped", "clock in 2080"] {
            assert!(schedule.blows.iter().any(|(_, blow)| blow.name() == name), "{name}");
        }
        for trouble in TERRAIN.troubles {
            assert!(schedule.troubles.iter().any(|(_, one, ..)| one == trouble), "{trouble:?}");
        }
    }

    #[test]
    fn one_clock_goes_far_ahead_only_after_the_last_restored_copy() {
        let schedule = Schedule::draw(7, 60, 12, Terrain { one_clock: true, ..TERRAIN });
        let far = schedule.blows.iter().find(|(_, blow)| {
            matches!(blow, Blow::Clock { setting: Setting::Off(ms), .. }
                if *ms > MAX_SKEW_MS.cast_signed())
        });
        let restored =
            schedule.troubles.iter().rfind(|(_, trouble, ..)| *trouble == Trouble::Restored);
        assert!(matches!((far, restored), (Some((far, _)), Some((last, ..))) if far > last));
    }
}
