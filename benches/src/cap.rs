//! Table 3: what happens at the cap of Twitter's layout, 4096 IDs a millisecond.

use std::error::Error;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeid_core::{Generator, Id};
use snowflaked::sync::Generator as Snowflaked;

use crate::report::{Bound, Kind, Section, Target};
use crate::rivals::{self, FerroidTwitter, Snowdon, SnowdonTwitter, Wait};
use crate::sample::Samples;
use crate::subject;
use crate::window::{self, Window};

const CAP: f64 = 4_096_000.0;
const FILL: usize = 4096;

/// How long and how often each row runs.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) window: Duration,
}

struct Row<'a> {
    name: &'static str,
    kind: Kind,
    /// A window of the given length: once for the rate, once for the longest call.
    run: Box<dyn Fn(Duration) -> (Window, Duration) + 'a>,
    rate: Samples,
    cpu: Samples,
    longest: Samples,
}

impl<'a> Row<'a> {
    fn new<W: FnMut() -> u64>(
        name: &'static str,
        threads: usize,
        worker: impl Fn() -> W + Sync + 'a,
    ) -> Self {
        let run = move |length| {
            let window = window::run(threads, length, &worker);
            (window, window::longest_call(threads, length / 2, &worker))
        };
        Self {
            name,
            kind: Kind::Ceiling,
            run: Box::new(run),
            rate: Samples::new(),
            cpu: Samples::new(),
            longest: Samples::new(),
        }
    }

    /// Single calls on a generator that threads may share.
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

    fn sample(&mut self, length: Duration) {
        let (window, longest) = (self.run)(length);
        self.rate.push(window.ids_per_second() / CAP);
        self.cpu.push(window.cpu_per_second());
        self.longest.push(longest.as_secs_f64() * 1e6);
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
            format!("{:.0}", self.longest.median()),
        ]
    }
}

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let next = subject::twitter(1)?;
    let next_two = subject::twitter(2)?;
    let fill = subject::twitter(3)?;
    let fill_two = subject::twitter(4)?;
    let yielding = rivals::ferroid_atomic::<FerroidTwitter>();
    let sleeping = rivals::ferroid_atomic::<FerroidTwitter>();
    let snowdon = Snowdon::<SnowdonTwitter>::default();
    let snowflaked = Snowflaked::new(0);
    let real_time = Mutex::new(rivals::rs_snowflake(0));
    let generate = Mutex::new(rivals::rs_snowflake(1));
    let ahead = AtomicU64::new(0);

    let mut rows = [
        Row::single("flakeid `next_id`", 1, || subject::next(&next)),
        Row::single("flakeid `next_id`, 2 threads", 2, || subject::next(&next_two)),
        Row::fill("flakeid `fill` of 4096", 1, &fill),
        Row::fill("flakeid `fill` of 4096, 2 threads", 2, &fill_two),
        Row::single("ferroid Atomic, real clock; caller yields", 1, || {
            rivals::ferroid_next(&yielding, Wait::Yield)
        }),
        Row::single("ferroid Atomic, real clock; caller sleeps as told", 1, || {
            rivals::ferroid_next(&sleeping, Wait::Sleep)
        }),
        Row::single("snowdon, lock-free; caller tries again", 1, || rivals::snowdon_next(&snowdon)),
        Row::single("snowflaked `sync`", 1, || snowflaked.generate()),
        // The locks make sole owners of generators that need `&mut`; each is taken once a window.
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
    ];
    for _ in 0..plan.rounds {
        for row in &mut rows {
            row.sample(plan.window);
        }
    }
    let ahead = ahead.load(Ordering::Relaxed) as f64 / 1000.0;
    let seconds = plan.window.as_secs_f64();
    Ok(Section {
        title: "3. At the cap",
        kind: "named in each row, because one of them has no ceiling".into(),
        header: vec![
            "",
            "kind",
            "of 4.096 M/s",
            "min..max",
            "CPU s per s",
            "min..max",
            "longest call, µs",
        ],
        notes: vec![
            format!(
                "{seconds} s per row and round, {} rounds; one thread where nothing else is \
                 said. A window may begin in one millisecond and end in another, which is worth \
                 up to {:.2} %. The longest call is that of a second window (of half the \
                 length, median of the rounds), since timing each call costs as much as the \
                 call; it includes whatever else the machine did.",
                plan.rounds,
                0.1 / seconds,
            ),
            format!(
                "scru64 with a counter of 20 bits in 256 ms has the same nominal rate. It does \
                 not wait but uses the ticks to come: {ahead:.1} s ahead of the clock at the \
                 most. From 10 s on it issues nothing."
            ),
        ],
        targets: targets(&rows),
        rows: rows.iter().map(Row::cells).collect(),
    })
}

fn scru64(ahead: &AtomicU64) -> Row<'_> {
    Row::new("scru64 (unshared)", 1, move || {
        let mut generator = rivals::scru64(20);
        let mut calls = 0_u64;
        move || {
            let Some(id) = generator.generate() else { return 0 };
            calls += 1;
            // Rarely enough that looking costs nothing.
            if calls.is_multiple_of(1 << 16) {
                ahead.fetch_max(rivals::scru64_ahead_ms(id.to_u64()), Ordering::Relaxed);
            }
            black_box(id);
            1
        }
    })
}

fn targets(rows: &[Row<'_>]) -> Vec<Target> {
    let [next, _, fill, fill_two, ..] = rows else { return Vec::new() };
    [
        ("R7", next, "`next_id` at the cap", 0.30),
        ("R8", fill, "`fill` at the cap, 1 thread", 0.05),
        ("R8", fill_two, "`fill` at the cap, 2 threads", 0.05),
    ]
    .into_iter()
    .flat_map(|(id, row, what, cpu)| {
        let rate = Target {
            id,
            what: format!("{what}: share of 4.096 M/s"),
            bound: Bound::AtLeast(0.995),
            measured: row.rate.median(),
        };
        let cpu = Target {
            id,
            what: format!("{what}: CPU s per s"),
            bound: Bound::AtMost(cpu),
            measured: row.cpu.median(),
        };
        [rate, cpu]
    })
    .collect()
}
