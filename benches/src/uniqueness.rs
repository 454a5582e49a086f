//! Counts duplicates, because speed without uniqueness would be easy.

use std::error::Error;
use std::sync::{Barrier, Mutex};
use std::thread;

use flakeid_core::{Generator, Id};
use snowflaked::sync::Generator as Snowflaked;

use crate::report::{Figure, Kind, Section, Target};
use crate::rivals::{self, FerroidTwitter, Snowdon, SnowdonTwitter, Wait};
use crate::subject;

const RUN: usize = 1000;

struct Outcome {
    ids: usize,
    duplicates: usize,
    steps_back: usize,
}

/// Lets `threads` workers fill a vector each, in parallel.
fn collect(total: usize, threads: usize, worker: impl Fn(usize, &mut [u64]) + Sync) -> Outcome {
    let start = Barrier::new(threads);
    let mut all = vec![0; total];
    let steps_back = thread::scope(|scope| {
        let (start, worker) = (&start, &worker);
        let workers: Vec<_> = all
            .chunks_mut(total / threads)
            .enumerate()
            .map(|(index, ids)| {
                scope.spawn(move || {
                    start.wait();
                    worker(index, ids);
                    ids.windows(2).filter(|pair| pair[1] <= pair[0]).count()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).sum()
    });
    all.sort_unstable();
    let duplicates = all.windows(2).filter(|pair| pair[0] == pair[1]).count();
    Outcome { ids: total, duplicates, steps_back }
}

fn singles(ids: &mut [u64], mut call: impl FnMut() -> u64) {
    for slot in ids {
        *slot = call();
    }
}

fn runs(ids: &mut [u64], generator: &Generator) {
    let mut run = [Id::from_u64(0); RUN];
    let mut filled = 0;
    while filled < ids.len() {
        let wanted = RUN.min(ids.len() - filled);
        let issued = subject::fill(generator, &mut run[..wanted]) as usize;
        for (slot, id) in ids[filled..].iter_mut().zip(&run[..issued]) {
            *slot = id.to_u64();
        }
        filled += issued;
    }
}

/// Counts flakeid's duplicates far below its maximum rate and at it.
pub(crate) fn measure(total: usize) -> Result<Section, Box<dyn Error>> {
    let mut outcomes = Vec::new();
    for (layout, one, two, mixed) in [
        ("22 sequence bits", subject::wide(3)?, subject::wide(4)?, subject::wide(5)?),
        ("Twitter", subject::twitter(5)?, subject::twitter(6)?, subject::twitter(7)?),
    ] {
        let next = |generator| move |_, ids: &mut [u64]| singles(ids, || subject::next(generator));
        outcomes.push((layout, "1 thread", collect(total, 1, next(&one))));
        outcomes.push((layout, "2 threads", collect(total, 2, next(&two))));
        let both = |index, ids: &mut [u64]| match index {
            0 => runs(ids, &mixed),
            _ => singles(ids, || subject::next(&mixed)),
        };
        outcomes.push((layout, "2 threads, one with `fill` of 1000", collect(total, 2, both)));
    }
    let wrong: usize = outcomes.iter().map(|(_, _, o)| o.duplicates + o.steps_back).sum();
    let rows = outcomes
        .iter()
        .map(|(layout, threads, outcome)| {
            vec![
                format!("flakeid, {layout}, {threads}"),
                outcome.ids.to_string(),
                outcome.duplicates.to_string(),
                outcome.steps_back.to_string(),
            ]
        })
        .collect();
    Ok(Section {
        id: "correctness",
        title: "5. Correctness",
        kind: "none of speed; IDs sorted and counted".into(),
        header: vec!["", "IDs", "duplicates", "steps back within a thread"],
        rows,
        notes: Vec::new(),
        targets: vec![Target::at_most(
            "R11",
            "duplicates and steps back (one process, no fork, no restart)",
            0.0,
            wrong as f64,
        )],
        figures: vec![Figure::single(
            "flakeid, all rows",
            Kind::Other,
            "duplicates and steps back",
            wrong as f64,
        )],
    })
}

/// Returns a sentence about the rivals' duplicates, because speeds compare only libraries that repeat no IDs.
pub(crate) fn of_rivals(total: usize) -> String {
    let atomic = rivals::ferroid_atomic::<FerroidTwitter>();
    let ticker = rivals::ferroid_atomic_ticker::<FerroidTwitter>();
    let basic = Mutex::new(rivals::ferroid_basic_ticker::<FerroidTwitter>());
    let snowdon = Snowdon::<SnowdonTwitter>::default();
    let snowflaked = Snowflaked::new(0);
    let real_time = Mutex::new(rivals::rs_snowflake(0));
    let generate = Mutex::new(rivals::rs_snowflake(1));
    let scru64 = Mutex::new(rivals::scru64(20));
    let shared = |call: &(dyn Fn() -> u64 + Sync)| collect(total, 2, |_, ids| singles(ids, call));
    let alone = |call: &(dyn Fn(&mut [u64]) + Sync)| collect(total, 1, |_, ids| call(ids));

    let outcomes = [
        ("ferroid Atomic, real clock", shared(&|| rivals::ferroid_next(&atomic, Wait::Yield))),
        ("ferroid Atomic, ticker", shared(&|| rivals::ferroid_next(&ticker, Wait::Yield))),
        (
            "ferroid Basic, ticker",
            alone(&|ids| {
                let generator = rivals::lock(&basic);
                singles(ids, || rivals::ferroid_basic_next(&generator));
            }),
        ),
        ("snowdon", shared(&|| rivals::snowdon_next(&snowdon))),
        ("snowflaked `sync`", shared(&|| snowflaked.generate())),
        (
            "rs-snowflake `real_time_generate`",
            alone(&|ids| {
                let mut generator = rivals::lock(&real_time);
                singles(ids, || generator.real_time_generate().cast_unsigned());
            }),
        ),
        (
            "rs-snowflake `generate`",
            alone(&|ids| {
                let mut generator = rivals::lock(&generate);
                singles(ids, || generator.generate().cast_unsigned());
            }),
        ),
        (
            "scru64",
            alone(&|ids| {
                let mut generator = rivals::lock(&scru64);
                singles(ids, || subject::issued(generator.generate().ok_or("10 s ahead")).to_u64());
            }),
        ),
    ];
    let found: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| outcome.duplicates + outcome.steps_back > 0)
        .map(|(name, outcome)| {
            let Outcome { duplicates, steps_back, .. } = outcome;
            format!("{name} {duplicates} duplicates and {steps_back} steps back")
        })
        .collect();
    let found = if found.is_empty() { "none in any row".to_owned() } else { found.join("; ") };
    format!(
        "Duplicates and steps back among {total} IDs of each rival at its cap (two threads where \
         it can be shared): {found}."
    )
}
