//! Tests of the gate with simulated instruments.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;

use super::gate::{Gate, Instruments};

const MS: i64 = 1_000_000;

/// A simulated machine. Every reading of an instrument takes some time.
struct Machine {
    /// The true time, in nanoseconds since 1970.
    now: Cell<i64>,
    /// The number of nanoseconds by which the system clock was set forward; negative if it was set back.
    set: Cell<i64>,
    counter: Cell<u64>,
    /// The rate of the counter, in thousandths of a count per nanosecond.
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

    /// Adds `counts` to the counter, but does not change the clocks.
    fn jump(&self, counts: i64) {
        self.counter.set(self.counter.get().wrapping_add_signed(counts));
    }

    fn ms(&self) -> i64 {
        (self.now.get() + self.set.get()).div_euclid(MS)
    }

    /// The rate of the counter, in counts per millisecond.
    fn counts(&self) -> i64 {
        (self.rate.get() * 1000).cast_signed()
    }

    /// Reads the gate, and returns the number of milliseconds by which the reading lags behind the clock.
    fn lag(&self, gate: &Gate) -> i64 {
        let earliest = self.ms();
        let read = gate.read(self);
        assert!(read <= self.ms(), "{read} is ahead of {}", self.ms());
        (earliest - read).max(0)
    }

    /// Reads the gate every `apart` nanoseconds for the given number of milliseconds, and returns the largest lag of
    /// these readings in milliseconds.
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

    /// Returns the number of times that the system clock is read within the given number of milliseconds, while the
    /// gate is read once per microsecond.
    fn looks_in(&self, gate: &Gate, milliseconds: u64) -> u32 {
        self.looks.set(0);
        self.largest_lag(gate, milliseconds, 1000);
        self.looks.get()
    }

    /// Creates a machine, and a gate that has measured the rate of the machine's counter.
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
fn gated_clock_rarely_reads_the_system_clock_once_the_counter_rate_is_known() {
    for rate in [100, 999, 2_500, 6_000] {
        let (machine, gate) = (Machine::new(rate), Gate::new());
        let before = machine.looks_in(&gate, 9);
        assert!(before > 8_000, "{before} looks: believed a counter of unknown rate");
        machine.largest_lag(&gate, 20, 1000);
        let looks = machine.looks_in(&gate, 100);
        assert!((100..800).contains(&looks), "{looks} looks in 100 ms at rate {rate}");
    }
}

/// Generates pauses between readings. Some pauses are as long as if the thread had been suspended.
fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..3_000, 4 => 0_u64..400_000, 1 => 0_u64..40_000_000]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gated_clock_is_exact_at_a_constant_counter_rate(rate in 60_u64..6_000, pauses in vec(pause(), 1..3_000)) {
        let (machine, gate) = (Machine::new(rate), Gate::new());
        for pause in pauses {
            machine.pass(pause);
            prop_assert_eq!(machine.lag(&gate), 0);
        }
    }

    /// After the gate has measured the rate, this test slows the counter down by up to a tenth. A faster counter cannot
    /// make readings lag.
    #[test]
    fn gated_clock_stays_exact_with_a_slightly_slower_counter(
        changes in vec((2_500_u64..2_750, 0_u64..30), 1..10),
    ) {
        let (machine, gate) = Machine::with_gate(2_750);
        for (rate, milliseconds) in changes {
            machine.rate.set(rate);
            prop_assert_eq!(machine.largest_lag(&gate, milliseconds, 3_000), 0);
        }
    }

    /// A jump of the counter never puts a reading ahead of the clock. One millisecond after the jump, readings lag
    /// by at most one millisecond.
    #[test]
    fn gated_clock_recovers_within_a_millisecond_after_counter_jumps(
        jumps in vec((any::<i32>(), 0_u64..5_000_000), 1..20),
    ) {
        let (machine, gate) = Machine::with_gate(2_500);
        for (jump, pause) in jumps {
            machine.jump(i64::from(jump) * 1_000);
            machine.lag(&gate);
            machine.pass(pause);
            machine.lag(&gate);
            // After this pause, the gate no longer returns a reading from before the jump.
            machine.pass(1_000_000);
            prop_assert!(machine.largest_lag(&gate, 3, 3_000) <= 1);
        }
    }
}

#[test]
fn much_slower_counter_delays_gated_clock_by_one_millisecond() {
    let (machine, gate) = Machine::with_gate(2_500);
    machine.rate.set(1_700);
    assert_eq!(
        machine.largest_lag(&gate, 30, 700),
        1,
        "a counter slower by a third makes readings late"
    );
    assert_eq!(machine.largest_lag(&gate, 100, 700), 0, "the rate was measured again");
    machine.rate.set(2_500);
    assert_eq!(machine.largest_lag(&gate, 100, 700), 0, "a faster counter is safe");
}

#[test]
fn gated_clock_detects_a_counter_that_was_set_back() {
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
fn gated_clock_detects_a_counter_reset_during_system_sleep() {
    let (machine, gate) = Machine::with_gate(2_500);
    machine.pass(3_600_000_000_000);
    machine.counter.set(0);
    assert_eq!(machine.largest_lag(&gate, 40, 900), 0);
}

#[test]
fn gated_clock_ignores_counter_jump_during_one_rate_measurement() {
    let (machine, gate) = Machine::with_gate(2_500);
    for _ in 0..5 {
        machine.jump(30 * machine.counts());
        assert_eq!(machine.largest_lag(&gate, 40, 900), 0);
    }
}

#[test]
fn gated_clock_stays_exact_when_processor_counters_differ_slightly() {
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
fn gated_clock_follows_system_clock_change_within_a_millisecond() {
    let (machine, gate) = Machine::with_gate(2_500);
    for step in [10_000 * MS, -20_000 * MS, 7 * MS, -3 * MS, MS, -MS] {
        // The first reading is taken at the start of a millisecond, because the gate then reuses the reading for the
        // longest time.
        machine.pass((MS - machine.now.get().rem_euclid(MS)).cast_unsigned());
        assert_eq!(gate.read(&machine), machine.ms());
        machine.set.set(machine.set.get() + step);
        let stale = gate.read(&machine);
        assert_eq!(
            stale,
            machine.ms() - step / MS,
            "the gate still returns the clock before the step"
        );
        machine.pass(900_000);
        assert_eq!(gate.read(&machine), machine.ms());
        assert_eq!(machine.largest_lag(&gate, 40, 900), 0);
    }
}

#[test]
fn forked_child_refreshes_gated_clock_locked_by_its_parent() {
    let (machine, gate) = Machine::with_gate(2_500);
    gate.hold(7);
    machine.pass(5_000_000);
    assert!(
        machine.looks_in(&gate, 10) > 5_000,
        "another thread of this process is refreshing the gate"
    );
    machine.process.set(8);
    machine.looks_in(&gate, 1);
    assert!(machine.looks_in(&gate, 10) < 100, "the gate stayed closed");
}
