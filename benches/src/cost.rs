//! Table 1: what a call costs when the layout does not hold it up.

use std::cell::Cell;
use std::error::Error;
use std::hint::black_box;

use snowflaked::sync::Generator as Snowflaked;

use crate::floor::Floor;
use crate::report::{Bound, Kind, Section, Target, ratio, spread};
use crate::rivals::{self, FerroidWide, Rotation, Snowdon, SnowdonWide, Wait};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};
use crate::{subject, uniqueness};

const FLOOR: &str = "F: clock to ms, then one CAS";
const LEAST: &str = "G: the same, the counter never behind the clock";
const NEXT: &str = "flakeid `next_id`";
const COARSE: &str = "flakeid `next_id`, `CoarseClock`";
const LOCAL: &str = "flakeid `local()` (a few ms late at most)";
const TICKER: &str = "ferroid Atomic, ticker (reads no clock)";
const FERROID: &str = "ferroid Atomic, real clock";

/// Enough that none is asked for 4096 IDs in a millisecond, even at 4 ns an ID.
const ROTATED: u16 = 64;
/// rs-snowflake's `generate` takes about a nanosecond, so it needs more of them.
const ROTATED_FAST: u16 = 1024;

pub(crate) fn measure(plan: Plan, duplicates_over: usize) -> Result<Section, Box<dyn Error>> {
    let (floor, least) = (Floor::new(), Floor::new());
    let next = subject::wide(0)?;
    let try_next = subject::wide(1)?;
    let coarse = subject::coarse(2)?;
    let shared = subject::wide(3)?;
    let mut local = shared.local();
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
        Row::new(NEXT, || subject::next(black_box(&next))),
        Row::new("flakeid `try_next_id`", || subject::try_next(black_box(&try_next))),
        Row::new(COARSE, || subject::next(black_box(&coarse))),
        Row::new(LOCAL, || subject::issued(black_box(&mut local).next_id()).to_u64()),
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
    let samples = nanoseconds_per_id(&mut rows, plan);
    let names: Vec<_> = rows.iter().map(|row| row.name).collect();
    drop(rows);

    let of = |name: &'static str| {
        &samples[names.iter().position(|&row| row == name).unwrap_or_default()]
    };
    let over = |row: &'static str, other: &'static str| of(row).over(of(other)).median();
    let next_over = |name: &'static str| of(NEXT).over(of(name)).median();
    let targets = vec![
        Target {
            id: "R1",
            what: "`next_id` / F".into(),
            bound: Bound::AtMost(1.12),
            measured: next_over(FLOOR),
        },
        Target {
            id: "R1",
            what: "`next_id` / ferroid Atomic over a real clock".into(),
            bound: Bound::AtMost(1.0),
            measured: next_over(FERROID),
        },
        Target {
            id: "R4",
            what: "`local()` / F".into(),
            bound: Bound::AtMost(0.25),
            measured: over(LOCAL, FLOOR),
        },
        Target {
            id: "R4",
            what: "`local()` / ferroid Atomic, ticker".into(),
            bound: Bound::AtMost(0.6),
            measured: over(LOCAL, TICKER),
        },
        Target {
            id: "R4",
            what: "`next_id` with `CoarseClock` / ferroid Atomic, ticker".into(),
            bound: Bound::AtMost(1.0),
            measured: over(COARSE, TICKER),
        },
    ];
    let ahead = rivals::scru64_ahead_ms(scru64_last.get());
    let mut notes = vec![format!(
        "F is a bound and not a generator: its counter only counts. G is the least that is one. \
             flakeid, ferroid and snowdon have 22 sequence bits here. scru64 has 23 in a tick of \
             256 ms, and its last ID was {ahead} ms ahead of the clock (it borrows rather than \
             waits). The tickers are a thread that wakes once a millisecond; its cost is in no \
             row.\n\n\
             [^turn]: 12 sequence bits, fixed: one generator would reach its cap. Many are used \
             in turn, {calls} calls each ({ROTATED}; {ROTATED_FAST} for `generate`), so that no \
             millisecond of any fills up."
    )];
    notes.push(uniqueness::of_rivals(duplicates_over));
    Ok(section(&names, &samples, notes, targets))
}

fn section(
    names: &[&'static str],
    samples: &[Samples],
    notes: Vec<String>,
    targets: Vec<Target>,
) -> Section {
    let rows = names
        .iter()
        .zip(samples)
        .map(|(name, row)| {
            let mut cells = vec![(*name).to_owned()];
            cells.extend(spread(row, 1));
            cells.push(ratio(row, &samples[0]));
            cells
        })
        .collect();
    Section {
        title: "1. One call",
        kind: format!("{} (no layout's cap binds), one thread", Kind::Cost),
        header: vec!["", "ns per ID", "min..max", "× F"],
        rows,
        notes,
        targets,
    }
}

fn issued<T>(id: Option<T>) -> T {
    subject::issued(id.ok_or("the clock went back"))
}
