//! Table 2: two threads on one generator.

use std::error::Error;
use std::hint::black_box;

use flakeid_core::{CoarseClock, SystemClock};

use crate::floor::Floor;
use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::rivals::{self, FerroidWide, Snowdon, SnowdonWide, Wait};
use crate::sample::{Plan, Samples};
use crate::subject;
use crate::window::{self, Window};

/// Minimum share of a window during which each thread must have had a processor. Otherwise one thread was interrupted
/// and the other ran alone meanwhile, faster than two threads ever are, so the window does not count.
const LEAST_SHARE: f64 = 0.97;
/// Number of attempts at a window before its whole round is discarded.
const ATTEMPTS: usize = 5;
/// Maximum number of rounds begun, for each one that is wanted.
const ROUNDS_PER_RESULT: usize = 3;

const FLOOR: &str = "F: clock to ms, then one CAS loop";
const NEXT: &str = "flakeid `next_id`";
const LOCAL: &str = "flakeid `local()`, one in each thread";
const RING: &str = "flakeid `CachedGenerator`, refilled meanwhile";
const TICKER: &str = "ferroid Atomic, ticker (reads no clock)";
const SNOWDON: &str = "snowdon, lock-free";

struct Row<'a> {
    name: &'static str,
    window: Box<dyn Fn(usize) -> Window + 'a>,
    least_share: f64,
    one: Samples,
    two: Samples,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, plan: Plan, call: impl Fn() -> u64 + Copy + Sync + 'a) -> Self {
        Self::each(name, plan, move || call)
    }

    /// Returns a row whose threads each have a state of their own.
    fn each<C: FnMut() -> u64>(
        name: &'static str,
        plan: Plan,
        thread: impl Fn() -> C + Sync + 'a,
    ) -> Self {
        let window = move |threads| {
            window::run(threads, plan.batch, || {
                let mut call = thread();
                move || {
                    black_box(call());
                    1
                }
            })
        };
        let (one, two) = (Samples::new(), Samples::new());
        Self { name, window: Box::new(window), least_share: LEAST_SHARE, one, two }
    }

    /// Returns the million IDs per second of one thread and of two, or `None` if the machine was too busy.
    fn sample(&self) -> Option<(f64, f64)> {
        Some((self.undisturbed(1)?, self.undisturbed(2)?))
    }

    fn undisturbed(&self, threads: usize) -> Option<f64> {
        (0..ATTEMPTS)
            .map(|_| (self.window)(threads))
            .find(|window| window.least_share >= self.least_share)
            .map(|window| window.ids_per_second() / 1e6)
    }
}

/// Samples every row in turn, beginning with another row each time. A round counts only if no window was disturbed,
/// because its ratios would compare different conditions.
fn sample_round(rows: &mut [Row<'_>], first: usize) -> bool {
    let mut round = vec![(f64::NAN, f64::NAN); rows.len()];
    for turn in 0..rows.len() {
        let index = (first + turn) % rows.len();
        let Some(sample) = rows[index].sample() else { return false };
        round[index] = sample;
    }
    for (row, (one, two)) in rows.iter_mut().zip(round) {
        row.one.push(one);
        row.two.push(two);
    }
    true
}

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let floor = Floor::new();
    let flakeid = subject::wide(6)?;
    let coarse = subject::on(CoarseClock, 7)?;
    let system = subject::on(SystemClock, 16)?;
    let shared = subject::wide(8)?;
    let ring = subject::ring(10)?;
    let spinning = rivals::ferroid_atomic::<FerroidWide>();
    let yielding = rivals::ferroid_atomic::<FerroidWide>();
    let snowdon = Snowdon::<SnowdonWide>::default();
    let ticker = rivals::ferroid_atomic_ticker::<FerroidWide>();
    let mut rows = [
        Row::new(FLOOR, plan, || floor.count()),
        Row::new(NEXT, plan, || subject::next(&flakeid)),
        Row::new("flakeid `next_id`, `SystemClock`", plan, || subject::next(&system)),
        Row::new("flakeid `next_id`, `CoarseClock`", plan, || subject::next(&coarse)),
        Row::each(LOCAL, plan, || {
            let mut local = shared.local();
            move || subject::next_local(&mut local)
        }),
        // The refill thread needs a processor too.
        Row { least_share: 0.0, ..Row::new(RING, plan, || subject::take(&ring)) },
        Row::new("ferroid Atomic, real clock; caller spins", plan, || {
            rivals::ferroid_next(&spinning, Wait::Spin)
        }),
        Row::new("ferroid Atomic, real clock; caller yields", plan, || {
            rivals::ferroid_next(&yielding, Wait::Yield)
        }),
        Row::new(TICKER, plan, || rivals::ferroid_next(&ticker, Wait::Yield)),
        Row::new(SNOWDON, plan, || rivals::snowdon_next(&snowdon)),
    ];
    for row in &rows {
        (row.window)(2);
    }
    let (mut begun, mut counted) = (0, 0);
    while counted < plan.rounds && begun < ROUNDS_PER_RESULT * plan.rounds {
        counted += usize::from(sample_round(&mut rows, begun));
        begun += 1;
    }

    let floor = &rows[0];
    let of = |name| rows.iter().find(|row| row.name == name).unwrap_or(floor);
    let scaling = |name| of(name).two.over(&of(name).one).median();
    let both = |name, rival| of(name).two.over(&of(rival).two).median();
    let targets = vec![
        Target::at_least("R5", "two threads / one thread, `next_id`", 0.60, scaling(NEXT)),
        Target::at_least("R5", "two threads, `next_id` / snowdon", 1.8, both(NEXT, SNOWDON)),
        Target::at_least("R6", "two threads / one thread, `local()`", 1.3, scaling(LOCAL)),
        Target::at_least(
            "R6",
            "two threads, `local()` / ferroid Atomic, ticker",
            5.0,
            both(LOCAL, TICKER),
        ),
        Target::at_least("Ring", "two takers / one taker", 0.75, scaling(RING)),
    ];
    Ok(Section {
        id: "threads",
        title: "2. Two threads on one generator",
        kind: format!(
            "{} (no layout's cap binds), as throughput, both threads together",
            Kind::Cost
        ),
        header: vec![
            "",
            "1 thread, M/s",
            "min..max",
            "2 threads, M/s",
            "min..max",
            "2 / 1",
            "2 threads, × F",
        ],
        rows: rows.iter().map(|row| cells(row, floor)).collect(),
        figures: rows
            .iter()
            .flat_map(|row| {
                let of = |unit, samples| Figure::new(row.name, Kind::Cost, unit, samples);
                let two = of("M/s, 2 threads", &row.two).over(&row.two, &floor.two);
                [of("M/s, 1 thread", &row.one), two]
            })
            .collect(),
        notes: vec![format!(
            "{counted} of {begun} rounds count. The others were disturbed by other work of the machine: {ATTEMPTS} \
            times in a row, a thread had a processor for less than {:.0} % of the window. The ring has two takers \
            and a refill thread on the same processors, so its row counts interrupted rounds too. `local()` of \
            flakeid does not keep the order across threads, the times of the ring are milliseconds late, and the \
            ticker reads no clock.",
            LEAST_SHARE * 100.0
        )],
        targets,
    })
}

fn cells(row: &Row<'_>, floor: &Row<'_>) -> Vec<String> {
    let mut cells = vec![row.name.to_owned()];
    cells.extend(spread(&row.one, 1));
    cells.extend(spread(&row.two, 1));
    cells.push(ratio(&row.two, &row.one));
    cells.push(ratio(&row.two, &floor.two));
    cells
}
