//! Table 2: two threads on one generator.

use std::error::Error;
use std::hint::black_box;

use crate::floor::Floor;
use crate::report::{Bound, Kind, Section, Target, ratio, spread};
use crate::rivals::{self, FerroidWide, Snowdon, SnowdonWide, Wait};
use crate::sample::{Plan, Samples};
use crate::subject;
use crate::window::{self, Window};

/// A thread that had a processor for less of the window than this was interrupted, and the other
/// one ran alone meanwhile, as fast as two never are: such a window does not count.
const LEAST_SHARE: f64 = 0.97;
/// How often a disturbed window is repeated before its whole round is given up.
const ATTEMPTS: usize = 5;
/// Rounds begun, for each that is wanted.
const PATIENCE: usize = 3;

struct Row<'a> {
    name: &'static str,
    window: Box<dyn Fn(usize) -> Window + 'a>,
    one: Samples,
    two: Samples,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, plan: Plan, call: impl Fn() -> u64 + Sync + 'a) -> Self {
        let window = move |threads| {
            window::run(threads, plan.batch, || {
                || {
                    black_box(call());
                    1
                }
            })
        };
        let (one, two) = (Samples::new(), Samples::new());
        Self { name, window: Box::new(window), one, two }
    }

    /// Million IDs a second of one thread and of two; `None` if the machine was too busy.
    fn sample(&self) -> Option<(f64, f64)> {
        Some((self.undisturbed(1)?, self.undisturbed(2)?))
    }

    fn undisturbed(&self, threads: usize) -> Option<f64> {
        (0..ATTEMPTS)
            .map(|_| (self.window)(threads))
            .find(|window| window.least_share >= LEAST_SHARE)
            .map(|window| window.ids_per_second() / 1e6)
    }
}

/// Samples every row in turn, beginning with another one each time. Only a round in which no
/// window was disturbed counts, or its ratios would compare different machines.
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
    let flakeid = subject::wide(2)?;
    let spinning = rivals::ferroid_atomic::<FerroidWide>();
    let yielding = rivals::ferroid_atomic::<FerroidWide>();
    let snowdon = Snowdon::<SnowdonWide>::default();
    let mut rows = [
        Row::new("F: clock to ms, then one CAS loop", plan, || floor.count()),
        Row::new("flakeid `next_id`", plan, || subject::next(&flakeid)),
        Row::new("ferroid Atomic, real clock; caller spins", plan, || {
            rivals::ferroid_next(&spinning, Wait::Spin)
        }),
        Row::new("ferroid Atomic, real clock; caller yields", plan, || {
            rivals::ferroid_next(&yielding, Wait::Yield)
        }),
        Row::new("snowdon, lock-free", plan, || rivals::snowdon_next(&snowdon)),
    ];
    for row in &rows {
        (row.window)(2);
    }
    let (mut begun, mut counted) = (0, 0);
    while counted < plan.rounds && begun < PATIENCE * plan.rounds {
        counted += usize::from(sample_round(&mut rows, begun));
        begun += 1;
    }

    let [floor, flakeid, .., snowdon] = &rows;
    let targets = vec![
        Target {
            id: "R5",
            what: "two threads / one thread, `next_id`".into(),
            bound: Bound::AtLeast(0.60),
            measured: flakeid.two.over(&flakeid.one).median(),
        },
        Target {
            id: "R5",
            what: "two threads, `next_id` / snowdon".into(),
            bound: Bound::AtLeast(1.8),
            measured: flakeid.two.over(&snowdon.two).median(),
        },
    ];
    Ok(Section {
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
        notes: vec![format!(
            "{counted} of {begun} rounds count. The others were disturbed by something else on the \
             machine: {ATTEMPTS} times in a row a thread had a processor for less than {:.0} % of \
             the window.",
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
