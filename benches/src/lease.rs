//! Table 6: what a lease costs.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakeid_core::{Generator, Layout};
use flakeid_lease::LeasedGenerator;

use crate::report::{Bound, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};
use crate::{subject, window};

const FIXED: &str = "`next_id`, fixed node";
const LEASED: &str = "`next_id`, leased node";
const ACQUISITIONS: usize = 101;

/// Enough renewals to count: the default window is renewed every 3.3 s.
const RENEWING: Duration = Duration::from_secs(20);

pub(crate) fn measure(plan: Plan) -> Result<Section, Box<dyn Error>> {
    let directory = Directory::new()?;
    let url = directory.url();
    // 21 sequence bits: single calls never fill a tick.
    let layout: Layout = "t41.n1.s21@0/1ms".parse()?;
    let fixed = Generator::new(layout, 0)?;
    let leased = LeasedGenerator::builder(&url, layout)?.namespace("calls").open()?;
    let mut rows = [
        Row::new(FIXED, || subject::next(black_box(&fixed))),
        Row::new(LEASED, || subject::issued(black_box(&leased).next_id()).to_u64()),
    ];
    let samples = nanoseconds_per_id(&mut rows, plan);
    let names: Vec<_> = rows.iter().map(|row| row.name).collect();
    drop(rows);
    drop(leased);

    let acquire = acquisitions(&url)?;
    let per_minute = renewals(&url)?;
    let notes = vec![format!(
        "A whole `open` on SQLite (connection, transaction, durable commit, and the thread that \
         keeps the lease): {:.1} ms at the median of {ACQUISITIONS}, {:.1} to {:.1}. Renewals at \
         the default window: {per_minute:.0} a minute and process, each one transaction on one \
         row.",
        acquire.median(),
        acquire.min(),
        acquire.max(),
    )];
    let targets = vec![
        Target {
            id: "L1",
            what: "leased / fixed `next_id`".into(),
            bound: Bound::AtMost(1.05),
            measured: samples[1].over(&samples[0]).median(),
        },
        Target {
            id: "L2",
            what: "acquire on SQLite, ms".into(),
            bound: Bound::AtMost(20.0),
            measured: acquire.median(),
        },
        Target {
            id: "L3",
            what: "renewals a minute (one in 3.3 s is 18)".into(),
            bound: Bound::AtMost(18.0 * 1.2),
            measured: per_minute,
        },
    ];
    let rows = names
        .iter()
        .zip(&samples)
        .map(|(name, row)| {
            let mut cells = vec![(*name).to_owned()];
            cells.extend(spread(row, 1));
            cells.push(ratio(row, &samples[0]));
            cells
        })
        .collect();
    Ok(Section {
        title: "6. Leases",
        kind: format!("{} (no layout's cap binds), one thread", Kind::Cost),
        header: vec!["", "ns per ID", "min..max", "× fixed"],
        rows,
        notes,
        targets,
    })
}

/// Milliseconds from nothing to a generator, again and again.
fn acquisitions(url: &str) -> Result<Samples, Box<dyn Error>> {
    let mut samples = Samples::new();
    for _ in 0..ACQUISITIONS {
        let start = Instant::now();
        let leased = LeasedGenerator::builder(url, Layout::TWITTER)?.namespace("acquire").open()?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
        black_box(leased.next_id()?);
    }
    Ok(samples)
}

/// How often a generator in use renews, per minute.
fn renewals(url: &str) -> Result<f64, Box<dyn Error>> {
    let leased = LeasedGenerator::builder(url, Layout::TWITTER)?.namespace("renew").open()?;
    let used = window::run(1, RENEWING, || {
        || {
            std::thread::sleep(Duration::from_millis(1));
            black_box(subject::issued(leased.next_id()));
            1
        }
    });
    Ok(leased.lease().renewals as f64 * 60.0 / used.wall.as_secs_f64())
}

/// A directory of its own, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("flakeid-bench-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    fn url(&self) -> String {
        format!("sqlite://{}", Path::join(&self.0, "flakeid.db").display())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("flakeid-bench: {} is left behind: {error}", self.0.display());
        }
    }
}
