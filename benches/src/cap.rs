//! Table 3: calls at the maximum rate of Twitter's layout, 4,096 IDs per millisecond.

use std::error::Error;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeid_core::{Generator, Id};
use snowflaked::sync::Generator as Snowflaked;

use crate::floor::Capped;
use crate::histogram::Histogram;
use crate::report::{Figure, Kind, Section, Target};
use crate::rivals::{self, FerroidTwitter, Snowdon, SnowdonTwitter, Wait};
use crate::sample::Samples;
use crate::subject;
use crate::window::{self, Window};

const CAP: f64 = 4_096_000.0;
const FILL: usize = 4096;
const FOUR: &str = "flakeid `next_id`, four nodes in one generator";

/// Duration and number of the runs of each row.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) window: Duration,
}

/// A call that takes this long has waited; others take well below a microsecond.
pub(crate) const WAITED: Duration = Duration::from_micros(50);

/// Factor by which single calls are timed longer than the rate is measured, because the 99.9th percentile needs
/// many waits.
const TIMED: u32 = 3;

struct Row<'a> {
    name: &'static str,
    kind: Kind,
    /// Maximum rate in IDs per second.
    cap: f64,
    /// Measures the rate in a window of the given length and times single calls in a longer window.
    run: Box<dyn Fn(Duration) -> (Window, Histogram) + 'a>,
    rate: Samples,
    cpu: Samples,
    cpu_per_million: Samples,
    calls: Histogram,
}

impl<'a> Row<'a> {
    fn new<W: FnMut() -> u64>(
        name: &'static str,
        threads: usize,
        worker: impl Fn() -> W + Sync + 'a,
    ) -> Self {
        let run = move |length| {
            let window = window::run(threads, length, &worker);
            (window, window::timed(threads - 1, TIMED * length, &worker))
        };
        Self {
            name,
            kind: Kind::Ceiling,
            cap: CAP,
            run: Box::new(run),
            rate: Samples::new(),
            cpu: Samples::new(),
            cpu_per_million: Samples::new(),
            calls: Histogram::new(),
        }
    }

    /// Returns a row of single calls on a generator that threads can share.
    fn single(
        name: &'static str,
        threads: usize,
        call: impl Fn() -> u64 + Copy + Send + Sync + 'a,
    ) -> Self {
        Self::new(name, threads, move || {
            move || {
                black_box(call());
                1
            }
        })
    }

    fn fill(name: &'static str, threads: usize, generator: &'a Generator) -> Self {
        Self::new(name, threads, move || {
            let mut ids = vec![Id::from_u64(0); FILL];
            move || subject::fill(generator, black_box(&mut ids))
        })
    }

    /// Returns a row of single calls of one thread while another thread fills arrays on the same generator.
    fn beside_a_filler(name: &'static str, generator: &'a Generator) -> Self {
        let single = move || {
            Box::new(move || {
                black_box(subject::next(generator));
                1_u64
            }) as Box<dyn FnMut() -> u64 + 'a>
        };
        let filler = move || {
            let mut ids = vec![Id::from_u64(0); FILL];
            Box::new(move || subject::fill(generator, black_box(&mut ids)))
                as Box<dyn FnMut() -> u64 + 'a>
        };
        let run = move |length| {
            let threads = AtomicU64::new(0);
            let window = window::run(2, length, || {
                if threads.fetch_add(1, Ordering::Relaxed) == 0 { filler() } else { single() }
            });
            (window, window::timed_beside(1, TIMED * length, single, filler))
        };
        Self { run: Box::new(run), ..Self::single(name, 1, || 0) }
    }

    fn sample(&mut self, length: Duration) {
        let (window, calls) = (self.run)(length);
        self.rate.push(window.ids_per_second() / self.cap);
        self.cpu.push(window.cpu_per_second());
        self.cpu_per_million.push(window.cpu_per_million());
        self.calls.merge(&calls);
    }

    /// Returns the 99.9th percentile, in milliseconds, of the calls that waited.
    fn waits(&self) -> f64 {
        let waits = self.calls.percentile_from(WAITED, 0.999);
        waits.map_or(f64::NAN, |waits| waits.as_secs_f64() * 1e3)
    }

    fn cells(&self) -> Vec<String> {
        let (rate, cpu) = (&self.rate, &self.cpu);
        vec![
            self.name.to_owned(),
            self.kind.to_string(),
            format!("{:.2} %", rate.median() * 100.0),
            format!("{:.2}..{:.2}", rate.min() * 100.0, rate.max() * 100.0),
            format!("{:.3}", cpu.median()),
            format!("{:.3}..{:.3}", cpu.min(), cpu.max()),
            format!("{:.4}", self.cpu_per_million.median()),
            format!("{:.2}", self.waits()),
            format!("{:.2}", self.calls.longest().as_secs_f64() * 1e3),
        ]
    }

    fn figures(&self) -> [Figure; 4] {
        let of = |unit, samples| Figure::new(self.name, self.kind, unit, samples);
        [
            of("share of the cap", &self.rate),
            of("CPU s per s", &self.cpu),
            of("CPU s per million IDs", &self.cpu_per_million),
            Figure::single(self.name, self.kind, "ms, p99.9 of calls that waited", self.waits()),
        ]
    }
}

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let next = subject::twitter(1)?;
    let next_two = subject::twitter(2)?;
    let next_eight = subject::twitter(5)?;
    let beside = subject::twitter(6)?;
    let borrowing = subject::borrowing(7)?;
    let fill = subject::twitter(3)?;
    let fill_two = subject::twitter(4)?;
    let four = subject::twitter_of_four([16, 17, 18, 19])?;
    let four_fill = subject::twitter_of_four([20, 21, 22, 23])?;
    let [yielding, sleeping] = [(); 2].map(|()| rivals::ferroid_atomic::<FerroidTwitter>());
    let snowdon = Snowdon::<SnowdonTwitter>::default();
    let snowflaked = Snowflaked::new(0);
    let [real_time, generate] = [0, 1].map(|node| Mutex::new(rivals::rs_snowflake(node)));
    let ahead = AtomicU64::new(0);

    let mut rows = [
        Row { kind: Kind::Other, ..bound() },
        Row::single("flakeid `next_id`", 1, || subject::next(&next)),
        Row::single("flakeid `next_id`, 2 threads", 2, || subject::next(&next_two)),
        Row::single("flakeid `next_id`, 8 threads", 8, || subject::next(&next_eight)),
        Row::beside_a_filler("flakeid `next_id`, next to a thread in `fill` of 4096", &beside),
        Row::fill("flakeid `fill` of 4096", 1, &fill),
        Row::fill("flakeid `fill` of 4096, 2 threads", 2, &fill_two),
        Row { cap: 4.0 * CAP, ..Row::single(FOUR, 1, || subject::next(&four)) },
        Row {
            cap: 4.0 * CAP,
            ..Row::fill("flakeid `fill` of 4096, four nodes in one generator", 1, &four_fill)
        },
        Row::single("ferroid Atomic, real clock; caller yields", 1, || {
            rivals::ferroid_next(&yielding, Wait::Yield)
        }),
        Row::single("ferroid Atomic, real clock; caller sleeps for the returned time", 1, || {
            rivals::ferroid_next(&sleeping, Wait::Sleep)
        }),
        Row::single("snowdon, lock-free; caller tries again", 1, || rivals::snowdon_next(&snowdon)),
        Row::single("snowflaked `sync`", 1, || snowflaked.generate()),
        // Generators that need `&mut` are locked once per window.
        Row::new("rs-snowflake `real_time_generate` (unshared)", 1, || {
            let mut generator = rivals::lock(&real_time);
            move || {
                black_box(generator.real_time_generate());
                1
            }
        }),
        Row::new("rs-snowflake `generate` (unshared)", 1, || {
            let mut generator = rivals::lock(&generate);
            move || {
                black_box(generator.generate());
                1
            }
        }),
        Row { kind: Kind::Borrowed, ..scru64(&ahead) },
        borrowed(&borrowing),
    ];
    for round in 1..=plan.rounds {
        eprintln!("rust: round {round} of {}", plan.rounds);
        for row in &mut rows {
            row.sample(plan.window);
        }
    }
    let ahead = ahead.load(Ordering::Relaxed) as f64 / 1000.0;
    let seconds = plan.window.as_secs_f64();
    Ok(Section {
        id: "cap",
        title: "3. At the cap",
        kind: "named in each row, because one of them has no ceiling and one no layout".into(),
        header: vec![
            "",
            "kind",
            "of its cap",
            "min..max",
            "CPU s per s",
            "min..max",
            "CPU s per million IDs",
            "p99.9 of waits, ms",
            "longest call, ms",
        ],
        notes: vec![
            format!(
                "{seconds} s per row and round, {} rounds; one thread unless the row states otherwise. The cap is \
                4.096 M/s, and 16.384 M/s with four nodes. A window may begin in one millisecond and end in another, \
                which accounts for up to {:.2} %. Waits and the longest call are measured with one thread in further \
                windows, which are {TIMED} times as long, because timing each call costs as much as the call. They \
                include all other work of the machine, and the first row shows how much this work delays a sleeping \
                thread. A call that takes {} µs or longer has waited.",
                plan.rounds,
                0.1 / seconds,
                WAITED.as_micros(),
            ),
            format!(
                "scru64 with a counter of 20 bits in 256 ms has the same nominal rate. It does not wait, but uses \
                future ticks: up to {ahead:.1} s ahead of the clock. From 10 s on, it issues no IDs."
            ),
        ],
        targets: targets(&rows),
        rows: rows.iter().map(Row::cells).collect(),
        figures: rows.iter().flat_map(Row::figures).collect(),
    })
}

/// Returns the row of the floor with one sleep per millisecond. It issues no IDs; its waits show how late the machine
/// wakes a sleeping thread.
fn bound<'a>() -> Row<'a> {
    Row::new("F, and one sleep a millisecond (no IDs)", 1, || {
        let mut capped = Capped::new(FILL as u32);
        move || {
            black_box(capped.count());
            1
        }
    })
}

fn borrowed(generator: &Generator) -> Row<'_> {
    let next = || subject::next(generator);
    Row { kind: Kind::Borrowed, ..Row::single("flakeid `next_id`, borrowing in a window", 1, next) }
}

fn scru64(ahead: &AtomicU64) -> Row<'_> {
    Row::new("scru64 (unshared)", 1, move || {
        let mut generator = rivals::scru64(20);
        let mut calls = 0_u64;
        move || {
            let Some(id) = generator.generate() else { return 0 };
            calls += 1;
            // Checked so rarely that the check costs nothing.
            if calls.is_multiple_of(1 << 16) {
                ahead.fetch_max(rivals::scru64_ahead_ms(id.to_u64()), Ordering::Relaxed);
            }
            black_box(id);
            1
        }
    })
}

fn targets(rows: &[Row<'_>]) -> Vec<Target> {
    let [_, next, two, eight, beside, fill, fill_two, four, .., borrowing] = rows else {
        return Vec::new();
    };
    let of = |id, what: &str, row: &Row<'_>, cpu| {
        let (rate, used) = (row.rate.median(), row.cpu.median());
        [
            Target::at_least(id, format!("{what}: share of 4.096 M/s"), 0.995, rate),
            Target::at_most(id, format!("{what}: CPU s per s"), cpu, used),
        ]
    };
    let waits = "`next_id` at the cap: p99.9 of the calls that waited, ms";
    let mut targets = Vec::from(of("R7", "`next_id` at the cap", next, 0.30));
    targets.push(Target::at_most("Waits", waits, 1.3, next.waits()));
    for (what, row, most) in [
        ("2 threads", two, 3.0),
        ("8 threads", eight, 3.0),
        // Two ticks more than alone.
        ("next to a filler", beside, 5.0),
    ] {
        targets.extend(of("Fair", &format!("`next_id` at the cap, {what}"), row, 0.40));
        let what = format!("`next_id` at the cap, {what}: p99.9 of the calls that waited, ms");
        targets.push(Target::at_most("Fair", what, most, row.waits()));
    }
    let what = "`next_id` that borrows: M IDs/s";
    targets.push(Target::at_least("Borrow", what, 60.0, borrowing.rate.median() * CAP / 1e6));
    targets.extend(of("R8", "`fill` at the cap, 1 thread", fill, 0.05));
    targets.extend(of("R8", "`fill` at the cap, 2 threads", fill_two, 0.05));
    let what = "`next_id` of four nodes at the cap: share of 16.384 M/s";
    targets.push(Target::at_least("Nodes", what, 0.99, four.rate.median()));
    targets
}
