//! The faults of a campaign, which are all drawn from the seed before it starts.

use std::ops::Range;

use flakeid_test_servers::OtherService;

use crate::fault::{BrokerFault, ClockSetting, ProcessFault, StoreFault};
use crate::lease_options::{SHORT_WINDOW_MS, has_long_lease};
use crate::shared_memory::GROUPS;

/// The largest step of a clock, in milliseconds.
pub(crate) const FURTHEST_STEP_MS: u64 = 1 << 15;

/// The faults that a deployment allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultRange<'a> {
    /// Whether all workers use the clock of one host, which is also the store's clock.
    pub(crate) one_clock: bool,
    /// The allowed difference between two clocks, in milliseconds.
    pub(crate) max_skew_ms: u64,
    /// The possible faults after which the store begins another run.
    pub(crate) restarts: &'a [StoreFault],
    /// The other possible faults of the store.
    pub(crate) other_store_faults: &'a [StoreFault],
    /// The mean time between two faults of the store, in milliseconds.
    pub(crate) store_fault_every_ms: u64,
    /// The number of brokers.
    pub(crate) brokers: usize,
    /// The longest window of the brokers' blocks, in milliseconds.
    pub(crate) broker_window_ms: u64,
}

/// The times at which faults are injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// The time in milliseconds since the start, and the fault, in the order of time.
    pub(crate) processes: Vec<(u64, ProcessFault)>,
    /// The time, the fault, its duration in milliseconds, and the group that it affects.
    pub(crate) store: Vec<(u64, StoreFault, u64, usize)>,
    /// The time, the fault and its duration, for each broker.
    pub(crate) brokers: Vec<Vec<(u64, BrokerFault, u64)>>,
}

/// The mean time between two faults of processes, in milliseconds.
const PROCESS_FAULT_EVERY_MS: u64 = 36;
/// The mean time between two faults of a broker, in milliseconds.
const BROKER_FAULT_EVERY_MS: u64 = 2_500;

impl Schedule {
    pub(crate) fn draw(seed: u64, seconds: u64, workers: usize, range: FaultRange<'_>) -> Self {
        let end = seconds * 1000;
        let (mut processes, mut store) = (Vec::new(), Vec::new());
        let mut rng = Rng::for_part(seed, 1);
        // The single clock of all workers is far ahead only in this part. The fences from that time
        // expire as many seconds later as the clock was ahead, so the last part is excluded.
        let far_ahead = end / 2..end * 3 / 4;
        let mut at = 500;
        while at < end {
            processes
                .push((at, draw_process_fault(&mut rng, far_ahead.contains(&at), workers, range)));
            at += rng.in_range(1..2 * PROCESS_FAULT_EVERY_MS);
        }
        let mut rng = Rng::for_part(seed, 2);
        let mut at = 1000;
        // Every third fault is a restart, or every second one if restarts are possible only in the
        // first half. Each kind occurs once before the choice is random, so that a short campaign
        // contains all kinds.
        let others = if range.one_clock { 1 } else { 2 };
        let mut turns = [0, 0];
        while at < end {
            let is_restarts_turn = turns[0] >= others * (turns[1] + 1);
            let possible = |store_fault: &StoreFault| {
                // An older copy lacks the fences from the time when the clock was far ahead. With a
                // single clock nothing else limits those fences, so the store could not detect the
                // copy.
                !(range.one_clock && *store_fault == StoreFault::Restored && at >= end / 2)
            };
            let (wanted, otherwise) = if is_restarts_turn {
                (range.restarts, range.other_store_faults)
            } else {
                (range.other_store_faults, range.restarts)
            };
            let mut choices: Vec<StoreFault> = wanted.iter().copied().filter(possible).collect();
            if choices.is_empty() {
                choices.extend(otherwise.iter().copied().filter(possible));
            }
            if choices.is_empty() {
                break;
            }
            let turn = &mut turns[usize::from(is_restarts_turn)];
            let pick =
                if *turn < choices.len() { *turn } else { rng.next() as usize % choices.len() };
            *turn += 1;
            let group = rng.in_range(0..GROUPS as u64) as usize;
            store.push((at, choices[pick], rng.in_range(200..1500), group));
            at += rng.in_range(range.store_fault_every_ms / 2..range.store_fault_every_ms * 3 / 2);
        }
        let brokers =
            (0..range.brokers).map(|broker| draw_broker_faults(seed, broker, end, range)).collect();
        Self { processes, store, brokers }
    }
}

/// Draws the faults of a broker. Each kind occurs once before the choice is random. Then about half
/// of the faults are kills and stops, and half of the stops outlast the broker's blocks.
fn draw_broker_faults(
    seed: u64,
    broker: usize,
    end: u64,
    range: FaultRange<'_>,
) -> Vec<(u64, BrokerFault, u64)> {
    let mut rng = Rng::for_part(seed, 3 + broker as u64);
    let mut faults = Vec::new();
    let mut at = rng.in_range(1_000..1_000 + BROKER_FAULT_EVERY_MS);
    while at < end {
        let kinds = [
            BrokerFault::Killed,
            BrokerFault::Stopped,
            BrokerFault::Clock(draw_clock_setting(&mut rng, true, range)),
            BrokerFault::Ended,
            BrokerFault::Cut,
            BrokerFault::Silenced,
            BrokerFault::Delayed,
            BrokerFault::WithoutStore,
            BrokerFault::Impersonated(OtherService::ALL[rng.in_range(0..6) as usize]),
            BrokerFault::Full,
        ];
        let fault = match faults.len() {
            // The first fault differs between brokers.
            turn if turn < kinds.len() => kinds[(turn + broker) % kinds.len()],
            _ if rng.percent(30) => BrokerFault::Killed,
            _ if rng.percent(20) => BrokerFault::Stopped,
            _ => kinds[rng.in_range(0..kinds.len() as u64) as usize],
        };
        let longest = match fault {
            BrokerFault::Stopped | BrokerFault::WithoutStore => 2 * range.broker_window_ms,
            _ => 1_500,
        };
        faults.push((at, fault, rng.in_range(100..longest)));
        at += rng.in_range(BROKER_FAULT_EVERY_MS / 2..BROKER_FAULT_EVERY_MS * 3 / 2);
    }
    faults
}

fn draw_process_fault(
    rng: &mut Rng,
    far_ahead: bool,
    workers: usize,
    range: FaultRange<'_>,
) -> ProcessFault {
    let mut slot = rng.in_range(0..workers as u64) as usize;
    if has_long_lease(slot) && rng.percent(90) {
        slot = (slot + 1) % workers;
    }
    let clocks = if range.one_clock { 10 } else { 15 };
    let roll = rng.in_range(0..100);
    if roll < clocks {
        let group = rng.in_range(0..GROUPS as u64) as usize;
        let setting = draw_clock_setting(rng, far_ahead, range);
        return ProcessFault::Clock { group, setting, for_ms: rng.in_range(50..400) };
    }
    match (roll - clocks) * 100 / (100 - clocks) {
        0..30 => {
            ProcessFault::Kill { slot, children: false, restart_after_ms: rng.in_range(0..400) }
        }
        30..38 => {
            ProcessFault::Kill { slot, children: true, restart_after_ms: rng.in_range(0..400) }
        }
        38..52 => ProcessFault::Restart { slot, restart_after_ms: rng.in_range(0..400) },
        _ => ProcessFault::Pause { slot, for_ms: rng.in_range(20..3 * SHORT_WINDOW_MS) },
    }
}

fn draw_clock_setting(rng: &mut Rng, far_ahead: bool, range: FaultRange<'_>) -> ClockSetting {
    match rng.in_range(0..10) {
        0 => ClockSetting::Year1970,
        1 => ClockSetting::Year2080,
        _ => clock_step(rng, far_ahead, range),
    }
}

/// Draws a clock error: allowed, near or far, and forward or backward.
fn clock_step(rng: &mut Rng, far_ahead: bool, range: FaultRange<'_>) -> ClockSetting {
    let back = rng.percent(50);
    // With a single clock, older copies are restored first, and large steps forward come later: see
    // `Schedule::draw`.
    let is_allowed = rng.percent(25) || range.one_clock && !far_ahead && !back;
    let reach = if rng.percent(40) { FURTHEST_STEP_MS } else { 2000 };
    let allowed = range.max_skew_ms + 1;
    let ms = rng.in_range(if is_allowed { 1..allowed } else { allowed..reach + 1 }).cast_signed();
    let ms = if back { -ms } else { ms };
    if is_allowed { ClockSetting::WithinSkew(ms) } else { ClockSetting::Offset(ms) }
}

/// The pseudo-random number generator `SplitMix64`, whose numbers depend only on the seed.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Returns an independent generator for each `part` of a campaign.
    pub(crate) fn for_part(seed: u64, part: u64) -> Self {
        Self(Self(seed ^ part.wrapping_mul(0xD134_2543_DE82_EF95)).next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number in a range, which must not be empty.
    pub(crate) fn in_range(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// Returns `true` in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.in_range(0..100) < percent
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const RANGE: FaultRange<'_> = FaultRange {
        one_clock: false,
        max_skew_ms: 50,
        restarts: &[StoreFault::Killed, StoreFault::Restored],
        other_store_faults: &[StoreFault::Paused],
        store_fault_every_ms: 3000,
        brokers: 2,
        broker_window_ms: 3000,
    };

    #[test]
    fn schedule_is_determined_by_its_seed() {
        assert_eq!(Schedule::draw(1, 30, 12, RANGE), Schedule::draw(1, 30, 12, RANGE));
        assert_ne!(Schedule::draw(1, 30, 12, RANGE), Schedule::draw(2, 30, 12, RANGE));
    }

    #[test]
    fn schedule_of_30_seconds_contains_500_faults_of_all_kinds() {
        let schedule = Schedule::draw(7, 30, 12, RANGE);
        assert!(schedule.processes.len() >= 500, "{}", schedule.processes.len());
        for name in [
            "killed",
            "restarted",
            "stopped",
            "clock within skew",
            "clock stepped",
            "clock in 2080",
        ] {
            assert!(
                schedule.processes.iter().any(|(_, process_fault)| process_fault.name() == name),
                "{name}"
            );
        }
        for store_fault in RANGE.restarts.iter().chain(RANGE.other_store_faults) {
            assert!(
                schedule.store.iter().any(|(_, one, ..)| one == store_fault),
                "{store_fault:?}"
            );
        }
        assert_eq!(schedule.brokers.len(), 2);
        for faults in &schedule.brokers {
            let kinds = faults.iter().map(|(_, fault, _)| std::mem::discriminant(fault));
            assert_eq!(kinds.collect::<HashSet<_>>().len(), 10, "{faults:?}");
        }
        assert_ne!(schedule.brokers[0], schedule.brokers[1]);
    }

    #[test]
    fn workers_with_long_leases_get_fewer_faults() {
        let schedule = Schedule::draw(7, 60, 12, RANGE);
        let (mut long, mut others) = (0, 0);
        for (_, process_fault) in &schedule.processes {
            match process_fault {
                ProcessFault::Kill { slot, .. }
                | ProcessFault::Restart { slot, .. }
                | ProcessFault::Pause { slot, .. } => {
                    *if has_long_lease(*slot) { &mut long } else { &mut others } += 1;
                }
                ProcessFault::Clock { setting: ClockSetting::WithinSkew(ms), .. } => {
                    assert!((1..=RANGE.max_skew_ms).contains(&ms.unsigned_abs()), "{ms}");
                }
                ProcessFault::Clock { setting: ClockSetting::Offset(ms), .. } => {
                    assert!(ms.unsigned_abs() > RANGE.max_skew_ms, "{ms}");
                }
                ProcessFault::Clock { .. } => {}
            }
        }
        // The workers with long leases are a third of all workers.
        assert!(long * 10 < others, "{long} and {others}");
    }

    #[test]
    fn shared_clock_jumps_far_ahead_only_after_all_restores() {
        let schedule = Schedule::draw(7, 60, 12, FaultRange { one_clock: true, ..RANGE });
        let far = schedule.processes.iter().find(|(_, process_fault)| {
            matches!(process_fault, ProcessFault::Clock { setting: ClockSetting::Offset(ms), .. }
                if *ms > 0)
        });
        let restored = schedule
            .store
            .iter()
            .rfind(|(_, store_fault, ..)| *store_fault == StoreFault::Restored);
        assert!(matches!((far, restored), (Some((far, _)), Some((last, ..))) if far > last));
    }
}
