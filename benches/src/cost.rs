//! Table 1: the cost of a call that does not wait for the layout.

use std::cell::Cell;
use std::error::Error;
use std::hint::black_box;
use std::thread;
use std::time::Duration;

use flakeid_core::internal::ProcessMark;
use flakeid_core::{CoarseClock, GatedClock, SystemClock};
use snowflaked::sync::Generator as Snowflaked;

use crate::floor::Floor;
use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::rivals::{self, FerroidWide, Rotation, Snowdon, SnowdonWide, Wait};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};
use crate::{clock, subject, uniqueness};

const FLOOR: &str = "F: clock to ms, then one CAS";
const LEAST: &str = "G: the same, the counter never behind the clock";
const NEXT: &str = "flakeid `next_id`";
const SYSTEM: &str = "flakeid `next_id`, `SystemClock`";
const COUNTER: &str = "C: the processor's counter, then one CAS";
const COARSE: &str = "flakeid `next_id`, `CoarseClock`";
const LOCAL: &str = "flakeid `local()` (a few ms late at most)";
const RING: &str = "flakeid `CachedGenerator`, refilled meanwhile (up to 1 s late)";
const EXACT_CLOCK: &str = "the clock alone";
const COARSE_CLOCK: &str = "the coarse clock alone";
const FORK_CHECK: &str = "the check for a fork alone";
const TICKER: &str = "ferroid Atomic, ticker (reads no clock)";
const FERROID: &str = "ferroid Atomic, real clock";

/// Enough generators that none issues 4,096 IDs in a millisecond, even at 4 ns per ID.
const ROTATED: u16 = 64;
/// More, because rs-snowflake's `generate` takes about a nanosecond.
const ROTATED_FAST: u16 = 1024;

pub(crate) fn measure(plan: Plan, duplicates_over: usize) -> Result<Section, Box<dyn Error>> {
    let [floor, least, counted] = [const { Floor::new() }; 3];
    let next = subject::wide(0)?;
    let try_next = subject::wide(1)?;
    let coarse = subject::on(CoarseClock, 2)?;
    let system = subject::on(SystemClock, 15)?;
    let shared = subject::wide(3)?;
    let mut local = shared.local();
    let ring = subject::ring(9)?;
    let mark = ProcessMark::new();
    let atomic = rivals::ferroid_atomic::<FerroidWide>();
    let atomic_ticker = rivals::ferroid_atomic_ticker::<FerroidWide>();
    let basic_ticker = rivals::ferroid_basic_ticker::<FerroidWide>();
    let snowdon = Snowdon::<SnowdonWide>::default();
    let mut snowflaked = Rotation::new(ROTATED, Snowflaked::new);
    let mut real_time = Rotation::new(ROTATED, rivals::rs_snowflake);
    let mut generate = Rotation::new(ROTATED_FAST, rivals::rs_snowflake);
    let mut scru64 = rivals::scru64(23);
    let scru64_last = Cell::new(0);

    let calls = Rotation::<()>::CALLS;
    let mut rows = [
        Row::new(FLOOR, || black_box(&floor).count()),
        Row::new(LEAST, || black_box(&least).position()),
        Row::new(COUNTER, || black_box(&counted).count_by_counter()),
        Row::new(EXACT_CLOCK, clock::unix_ms),
        Row::new(COARSE_CLOCK, clock::coarse),
        Row::new(FORK_CHECK, || u64::from(black_box(&mark).is_ours())),
        Row::new(NEXT, || subject::next(black_box(&next))),
        Row::new("flakeid `try_next_id`", || subject::try_next(black_box(&try_next))),
        Row::new(SYSTEM, || subject::next(black_box(&system))),
        Row::new(COARSE, || subject::next(black_box(&coarse))),
        Row::new(LOCAL, || subject::next_local(black_box(&mut local))),
        Row::new(RING, || subject::take(black_box(&ring))),
        Row::new(FERROID, || rivals::ferroid_next(black_box(&atomic), Wait::Yield)),
        Row::new("snowdon, lock-free", || rivals::snowdon_next(black_box(&snowdon))),
        Row::batched("snowflaked `sync` [^turn]", 1, calls, move |n| {
            snowflaked.run(n, |generator| generator.generate());
        }),
        Row::new("scru64 (unshared)", || {
            let id = issued(black_box(&mut scru64).generate()).to_u64();
            scru64_last.set(id);
            id
        }),
        Row::batched("rs-snowflake `real_time_generate` (unshared) [^turn]", 1, calls, move |n| {
            real_time.run(n, |generator| generator.real_time_generate().cast_unsigned());
        }),
        Row::batched(
            "rs-snowflake `generate` (unshared; reads a clock once in 4096 calls) [^turn]",
            1,
            calls,
            move |n| generate.run(n, |generator| generator.generate().cast_unsigned()),
        ),
        Row::new(TICKER, || rivals::ferroid_next(black_box(&atomic_ticker), Wait::Yield)),
        Row::new("ferroid Basic, ticker (unshared; reads no clock)", || {
            rivals::ferroid_basic_next(black_box(&basic_ticker))
        }),
    ];
    let ticking = used_while_idle();
    let samples = nanoseconds_per_id(&mut rows, plan);
    let names: Vec<_> = rows.iter().map(|row| row.name).collect();
    drop(rows);

    let table = Table { names, samples };
    let ahead = rivals::scru64_ahead_ms(scru64_last.get());
    let mut notes = table.notes(ahead, ticking);
    notes.push(uniqueness::of_rivals(duplicates_over));
    Ok(table.section(notes))
}

/// Measurements by the names of the rows.
struct Table {
    names: Vec<&'static str>,
    samples: Vec<Samples>,
}

impl Table {
    fn of(&self, name: &str) -> &Samples {
        &self.samples[self.names.iter().position(|&row| row == name).unwrap_or_default()]
    }

    fn median(&self, name: &str) -> f64 {
        self.of(name).median()
    }

    fn over(&self, row: &str, other: &str) -> f64 {
        self.of(row).over(self.of(other)).median()
    }

    fn targets(&self) -> Vec<Target> {
        let at_most =
            |id, what, limit, row, other| Target::at_most(id, what, limit, self.over(row, other));
        vec![
            at_most("R1", "`next_id` with `SystemClock` / F", 1.12, SYSTEM, FLOOR),
            at_most("R1", "`next_id` / ferroid Atomic over a real clock", 1.0, NEXT, FERROID),
            at_most("R2", "`next_id` / F", 0.4, NEXT, FLOOR),
            at_most("R2", "`next_id` / C, which is its bound", 1.2, NEXT, COUNTER),
            at_most("R4", "`local()` / F", 0.25, LOCAL, FLOOR),
            at_most("R4", "`local()` / ferroid Atomic, ticker", 0.6, LOCAL, TICKER),
            at_most(
                "Coarse",
                "`next_id` with `CoarseClock` / ferroid Atomic, ticker",
                1.0,
                COARSE,
                TICKER,
            ),
            at_most("Ring", "`CachedGenerator` / F", 0.5, RING, FLOOR),
            Target::at_most("R10", "the check for a fork, ns", 1.0, self.median(FORK_CHECK)),
        ]
    }

    fn notes(&self, ahead: u64, ticking: f64) -> Vec<String> {
        let gated = if GatedClock.is_gated() { "" } else { " (but not on this machine)" };
        let calls = Rotation::<()>::CALLS;
        vec![
            format!(
                "F is a bound and not a generator, because its counter does not follow the clock. G is the smallest \
                complete generator. flakeid, ferroid and snowdon have 22 sequence bits here. flakeid's default, \
                `GatedClock`, reads the processor's counter between two readings of the clock{gated}; C is the least \
                work for this. scru64 has 23 bits in a tick of 256 ms, and its last ID was {ahead} ms ahead of the \
                clock (it borrows instead of waiting).\n\n[^turn]: The crate has 12 fixed sequence bits, so one \
                generator would reach its cap. Many generators take turns of {calls} calls each ({ROTATED} \
                generators; {ROTATED_FAST} for `generate`), so that no millisecond of a generator fills up."
            ),
            format!(
                "A call that reads a clock at all, even the coarse clock ({:.1} ns alone), takes at least {:.2} × \
                ferroid Atomic with its ticker ({:.1} ns). Neither this row nor ferroid Basic reads a clock: a \
                thread that wakes once per millisecond stores the time for them. This thread used {ticking:.4} CPU s \
                per s while nothing else ran, which no row includes. Basic also saves the compare-and-swap, because \
                only one thread may use it.",
                self.median(COARSE_CLOCK),
                self.over(COARSE_CLOCK, TICKER),
                self.median(TICKER),
            ),
            format!(
                "CPU seconds per million IDs are the nanoseconds, divided by 1000; for the ring, the time of the \
                refill thread is additional. Baidu publishes more than 6 million IDs per second for its \
                CachedUidGenerator in Java, which was not measured here. The ring returns {:.0} million IDs per \
                second to one thread.",
                1e3 / self.median(RING),
            ),
        ]
    }

    fn section(&self, notes: Vec<String>) -> Section {
        let rows = || self.names.iter().zip(&self.samples);
        let floor = &self.samples[0];
        let cells = |(name, row): (&&'static str, &Samples)| {
            let mut cells = vec![(*name).to_owned()];
            cells.extend(spread(row, 1));
            cells.push(ratio(row, floor));
            cells
        };
        let figure = |(&name, row): (&&'static str, &Samples)| {
            let figure = Figure::new(name, Kind::Cost, "ns", row).over(row, floor);
            let part = [LEAST, COUNTER, EXACT_CLOCK, COARSE_CLOCK, FORK_CHECK].contains(&name);
            if part { figure } else { figure.charted() }
        };
        Section {
            id: "cost",
            title: "1. One call",
            kind: format!("{} (no layout's cap binds), one thread", Kind::Cost),
            header: vec!["", "ns per ID", "min..max", "× F"],
            rows: rows().map(cells).collect(),
            notes,
            targets: self.targets(),
            figures: rows().map(figure).collect(),
        }
    }
}

/// Returns the CPU seconds per second of the background threads of rivals.
fn used_while_idle() -> f64 {
    const LENGTH: Duration = Duration::from_millis(500);
    let before = clock::process_cpu();
    thread::sleep(LENGTH);
    clock::process_cpu().saturating_sub(before).as_secs_f64() / LENGTH.as_secs_f64()
}

fn issued<T>(id: Option<T>) -> T {
    subject::issued(id.ok_or("the clock went back"))
}
