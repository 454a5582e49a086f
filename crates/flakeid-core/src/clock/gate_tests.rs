//! The gate on scripted instruments.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;

use super::gate::{Gate, Instruments};

const MS: i64 = 1_000_000;

/// A machine. Every look at an instrument takes some time.
struct Machine {
    /// Nanoseconds since 1970.
    now: Cell<i64>,
    /// By how much the clock was set off, in nanoseconds.
    set: Cell<i64>,
    counter: Cell<u64>,
    /// Thousandths of a count per nanosecond.
    rate: Cell<u64>,
    fraction: Cell<u64>,
    process: Cell<u64>,
    looks: Cell<u32>,
}

impl Machine {
    const LOOK: u64 = 20;

    fn new(rate: u64) -> Self {
        Self {
            now: Cell::new(1_700_000_000_000 * MS),
            set: Cell::new(0),
            counter: Cell::new(1 << 40),
            rate: Cell::new(rate),
            fraction: Cell::new(0),
            process: Cell::new(7),
            looks: Cell::new(0),
        }
    }

    fn pass(&self, nanoseconds: u64) {
        self.now.set(self.now.get() + nanoseconds.cast_signed());
        let counts = nanoseconds * self.rate.get() + self.fraction.get();
        self.fraction.set(counts % 1000);
        self.jump((counts / 1000).cast_signed());
    }

    /// Moves the counter alone.
    fn jump(&self, counts: i64) {
        self.counter.set(self.counter.get().wrapping_add_signed(counts));
    }

    fn ms(&self) -> i64 {
        (self.now.get() + self.set.get()).div_euclid(MS)
    }

    /// Counts in a millisecond.
    fn counts(&self) -> i64 {
        (self.rate.get() * 1000).cast_signed()
    }

    /// By how many milliseconds a reading is late.
    fn lag(&self, gate: &Gate) -> i64 {
        let earliest = self.ms();
        let read = gate.read(self);
        assert!(read <= self.ms(), "{read} is ahead of {}", self.ms());
        (earliest - read).max(0)
    }

    /// The largest lag of readings `apart` nanoseconds apart.
    fn largest_lag(&self, gate: &Gate, milliseconds: u64, apart: u64) -> i64 {
        let readings = milliseconds * MS.cast_unsigned() / apart;
        (0..readings)
            .map(|_| {
                self.pass(apart);
                self.lag(gate)
            })
            .max()
            .unwrap_or(0)
    }

    /// How often the clock is looked at in so many milliseconds of readings every microsecond.
    fn looks_in(&self, gate: &Gate, milliseconds: u64) -> u32 {
        self.looks.set(0);
        self.largest_lag(gate, milliseconds, 1000);
        self.looks.get()
    }

    /// With a gate that knows the counter's rate.
    fn with_gate(rate: u64) -> (Self, Gate) {
        let (machine, gate) = (Self::new(rate), Gate::new());
        assert_eq!(machine.largest_lag(&gate, 50, 10_000), 0);
        assert!(machine.looks_in(&gate, 10) < 100, "the gate is not open");
        (machine, gate)
    }
}

impl Instruments for Machine {
    fn counter(&self) -> u64 {
        self.pass(Self::LOOK);
        self.counter.get()
    }

    fn wall(&self) -> (i64, u64) {
        self.pass(Self::LOOK);
        self.looks.set(self.looks.get() + 1);
        let now = self.now.get() + self.set.get();
        (now.div_euclid(MS), now.rem_euclid(MS).cast_unsigned())
    }

    fn steady(&self) -> u64 {
        self.pass(Self::LOOK);
        self.now.get().cast_unsigned()
    }

    fn process(&self) -> u64 {
        self.process.get()
    }
}

#[test]
fn the_clock_is_looked_at_a_few_times_a_millisecond_once_the_rate_is_known() {
    for rate in [100, 999, 2_500, 6_000] {
        let (machine, gate) = (Machine::new(rate), Gate::new());
        let before = machine.looks_in(&gate, 9);
        assert!(before > 8_000, "{before} looks: believed a counter of unknown rate");
        machine.largest_lag(&gate, 20, 1000);
        let looks = machine.looks_in(&gate, 100);
        assert!((100..800).contains(&looks), "{looks} looks in 100 ms at rate {rate}");
    }
}

/// Between readings, and while the thread is not running.
fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..3_000, 4 => 0_u64..400_000, 1 => 0_u64..40_000_000]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_reading_is_of_its_moment(rate in 60_u64..6_000, pauses in vec(pause(), 1..3_000)) {
        let (machine, gate) = (Machine::new(rate), Gate::new());
        for pause in pauses {
            machine.pass(pause);
            prop_assert_eq!(machine.lag(&gate), 0);
        }
    }

    /// Up to a tenth slower than another time it was measured, which is the side that matters.
    #[test]
    fn a_rate_that_is_a_tenth_off_changes_nothing(
        changes in vec((2_500_u64..2_750, 0_u64..30), 1..10),
    ) {
        let (machine, gate) = Machine::with_gate(2_750);
        for (rate, milliseconds) in changes {
            machine.rate.set(rate);
            prop_assert_eq!(machine.largest_lag(&gate, milliseconds, 3_000), 0);
        }
    }

    /// Whatever the counter does, a reading is never ahead, and soon late by a millisecond at most.
    #[test]
    fn a_counter_that_jumps_makes_no_reading_ahead_or_late_for_long(
        jumps in vec((any::<i32>(), 0_u64..5_000_000), 1..20),
    ) {
        let (machine, gate) = Machine::with_gate(2_500);
        for (jump, pause) in jumps {
            machine.jump(i64::from(jump) * 1_000);
            machine.lag(&gate);
            machine.pass(pause);
            machine.lag(&gate);
            // By then any end that was believed is over.
            machine.pass(1_000_000);
            prop_assert!(machine.largest_lag(&gate, 3, 3_000) <= 1);
        }
    }
}

#[test]
fn a_counter_that_is_slower_than_it_was_measured_makes_readings_late_by_less_than_a_millisecond() {
    let (machine, gate) = Machine::with_gate(2_500);
    machine.rate.set(1_700);
    assert_eq!(machine.largest_lag(&gate, 30, 700), 1, "a third is more than the gate allows for");
    assert_eq!(machine.largest_lag(&gate, 100, 700), 0, "measured again");
    machine.rate.set(2_500);
    assert_eq!(machine.largest_lag(&gate, 100, 700), 0, "faster is the safe side");
}

#[test]
fn a_counter_set_back_by_more_than_a_millisecond_is_noticed_at_once() {
    let (machine, gate) = Machine::with_gate(2_500);
    for back in [2, 10, 1_000, 3_600_000, 1 << 38] {
        machine.pass(3_000_000);
        machine.lag(&gate);
        machine.jump(-back * machine.counts() - 1);
        assert_eq!(machine.largest_lag(&gate, 40, 900), 0, "back by {back} ms");
    }
    assert!(machine.looks_in(&gate, 10) < 100, "the gate did not open again");
}

#[test]
fn a_counter_that_starts_over_while_the_machine_sleeps_is_noticed_at_once() {
    let (machine, gate) = Machine::with_gate(2_500);
    machine.pass(3_600_000_000_000);
    machine.counter.set(0);
    assert_eq!(machine.largest_lag(&gate, 40, 900), 0);
}

#[test]
fn a_counter_that_jumped_while_it_was_measured_is_outvoted() {
    let (machine, gate) = Machine::with_gate(2_500);
    for _ in 0..5 {
        machine.jump(30 * machine.counts());
        assert_eq!(machine.largest_lag(&gate, 40, 900), 0);
    }
}

#[test]
fn processors_whose_counters_differ_by_less_than_a_microsecond_read_the_same() {
    let (machine, gate) = Machine::with_gate(2_500);
    let apart = machine.counts() / 1_100;
    for _ in 0..50_000 {
        machine.jump(apart);
        assert_eq!(machine.lag(&gate), 0);
        machine.jump(-apart);
        assert_eq!(machine.lag(&gate), 0);
        machine.pass(300);
    }
}

#[test]
fn a_clock_that_is_set_is_noticed_within_a_millisecond() {
    let (machine, gate) = Machine::with_gate(2_500);
    for step in [10_000 * MS, -20_000 * MS, 7 * MS, -3 * MS, MS, -MS] {
        // The beginning of a millisecond, from which it is believed longest.
        machine.pass((MS - machine.now.get().rem_euclid(MS)).cast_unsigned());
        assert_eq!(gate.read(&machine), machine.ms());
        machine.set.set(machine.set.get() + step);
        let stale = gate.read(&machine);
        assert_eq!(stale, machine.ms() - step / MS, "still the clock before it was set");
        machine.pass(900_000);
        assert_eq!(gate.read(&machine), machine.ms());
        assert_eq!(machine.largest_lag(&gate, 40, 900), 0);
    }
}

#[test]
fn a_child_is_not_kept_out_by_a_thread_that_it_does_not_have() {
    let (machine, gate) = Machine::with_gate(2_500);
    gate.hold(7);
    machine.pass(5_000_000);
    assert!(machine.looks_in(&gate, 10) > 5_000, "another thread of this process is at it");
    machine.process.set(8);
    machine.looks_in(&gate, 1);
    assert!(machine.looks_in(&gate, 10) < 100, "the gate stayed closed");
}
