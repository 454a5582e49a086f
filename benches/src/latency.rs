//! Table 7: the duration of single calls while another thread makes the same calls as fast as it can.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use flakeid_core::CoarseClock;
use snowflaked::sync::Generator as Snowflaked;

use crate::cap::{Plan, WAITED};
use crate::floor::Floor;
use crate::histogram::Histogram;
use crate::report::{Figure, Kind, Section};
use crate::rivals::{
    self, FerroidTwitter, FerroidWide, Snowdon, SnowdonTwitter, SnowdonWide, Wait,
};
use crate::{subject, window};

const SHARES: [(&str, f64); 3] = [("p50, ns", 0.5), ("p99, ns", 0.99), ("p99.9, ns", 0.999)];

struct Row<'a> {
    name: &'static str,
    kind: Kind,
    run: Box<dyn Fn(Duration) -> Histogram + 'a>,
    calls: Histogram,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, kind: Kind, call: impl Fn() -> u64 + Copy + Sync + 'a) -> Self {
        Self::each(name, kind, move || call)
    }

    /// Returns a row whose threads each have a state of their own.
    fn each<C: FnMut() -> u64>(
        name: &'static str,
        kind: Kind,
        thread: impl Fn() -> C + Sync + 'a,
    ) -> Self {
        let run = move |length| {
            window::timed(1, length, || {
                let mut call = thread();
                move || black_box(call())
            })
        };
        Self { name, kind, run: Box::new(run), calls: Histogram::new() }
    }

    fn waits(&self) -> Option<Duration> {
        self.calls.percentile_from(WAITED, 0.999).filter(|_| matches!(self.kind, Kind::Ceiling))
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.name.to_owned(), self.kind.to_string()];
        cells.extend(SHARES.map(|(_, share)| {
            let found = self.calls.percentile(share);
            found.map_or_else(|| "–".to_owned(), |found| found.as_nanos().to_string())
        }));
        let milliseconds = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
        cells.push(milliseconds(self.calls.longest()));
        cells.push(self.waits().map_or_else(|| "–".to_owned(), milliseconds));
        cells
    }

    fn figures(&self) -> Vec<Figure> {
        let nanoseconds = |time: Duration| time.as_nanos() as f64;
        let mut figures: Vec<_> = SHARES
            .iter()
            .map(|&(unit, share)| {
                let found = self.calls.percentile(share).map_or(f64::NAN, nanoseconds);
                Figure::single(self.name, self.kind, unit, found)
            })
            .collect();
        let longest = nanoseconds(self.calls.longest());
        figures.push(Figure::single(self.name, self.kind, "max, ns", longest));
        figures
    }
}

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let floor = Floor::new();
    let (below, coarse, shared) =
        (subject::wide(11)?, subject::on(CoarseClock, 12)?, subject::wide(13)?);
    let (ring, at) = (subject::ring(14)?, subject::twitter(8)?);
    let ferroid_below = rivals::ferroid_atomic::<FerroidWide>();
    let (yielding, sleeping) =
        (rivals::ferroid_atomic::<FerroidTwitter>(), rivals::ferroid_atomic::<FerroidTwitter>());
    let snowdon_below = Snowdon::<SnowdonWide>::default();
    let snowdon_at = Snowdon::<SnowdonTwitter>::default();
    let snowflaked = Snowflaked::new(0);
    let (cost, ceiling) = (Kind::Cost, Kind::Ceiling);

    let mut rows = [
        Row::new("nothing: what timing a call costs", cost, || 0),
        Row::new("F: clock to ms, then one CAS loop", cost, || floor.count()),
        Row::new("flakeid `next_id`", cost, || subject::next(&below)),
        Row::new("flakeid `next_id`, `CoarseClock`", cost, || subject::next(&coarse)),
        Row::each("flakeid `local()`, one in each thread", cost, || {
            let mut local = shared.local();
            move || subject::next_local(&mut local)
        }),
        Row::new("flakeid `CachedGenerator`, refilled meanwhile", cost, || subject::take(&ring)),
        Row::new("ferroid Atomic, real clock; caller yields", cost, || {
            rivals::ferroid_next(&ferroid_below, Wait::Yield)
        }),
        Row::new("snowdon, lock-free", cost, || rivals::snowdon_next(&snowdon_below)),
        Row::new("flakeid `next_id`, at the cap", ceiling, || subject::next(&at)),
        Row::new("ferroid Atomic, real clock; caller yields, at the cap", ceiling, || {
            rivals::ferroid_next(&yielding, Wait::Yield)
        }),
        Row::new(
            "ferroid Atomic, real clock; caller sleeps for the returned time, at the cap",
            ceiling,
            || rivals::ferroid_next(&sleeping, Wait::Sleep),
        ),
        Row::new("snowdon, lock-free; caller tries again, at the cap", ceiling, || {
            rivals::snowdon_next(&snowdon_at)
        }),
        Row::new("snowflaked `sync`, at the cap", ceiling, || snowflaked.generate()),
    ];
    for round in 1..=plan.rounds {
        eprintln!("rust: round {round} of {}", plan.rounds);
        for row in &mut rows {
            row.calls.merge(&(row.run)(plan.window / 2));
        }
    }
    Ok(Section {
        id: "latency",
        title: "7. Single calls while another thread makes the same ones",
        kind: "named in each row".into(),
        header: vec![
            "",
            "kind",
            "p50, ns",
            "p99, ns",
            "p99.9, ns",
            "max, ms",
            "p99.9 of waits, ms",
        ],
        rows: rows.iter().map(Row::cells).collect(),
        notes: vec![format!(
            "{} windows of {} ms per row. Every call of one of the two threads is timed, and every figure includes \
            the cost of timing, which the first row shows. Below the cap, no call waits for a tick; the longest \
            calls were interrupted. A call that takes {} µs or longer at the cap has waited.",
            plan.rounds,
            (plan.window / 2).as_millis(),
            WAITED.as_micros(),
        )],
        targets: Vec::new(),
        figures: rows.iter().flat_map(Row::figures).collect(),
    })
}
