//! Table 6: the cost of a lease.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakeid::{Generator, Layout};

use crate::report::{Figure, Kind, Section, Target, ratio, spread};
use crate::sample::{Plan, Row, Samples, nanoseconds_per_id};
use crate::{subject, window};

const FIXED: &str = "flakeid `next_id`, fixed node";
const LEASED: &str = "flakeid `next_id`, leased node";
const ACQUISITIONS: usize = 101;

pub(crate) fn measure(plan: Plan, renewing: Duration) -> Result<Section, Box<dyn Error>> {
    let directory = Directory::new("lease")?;
    let url = directory.url();
    // 21 sequence bits: single calls never fill a tick.
    let layout: Layout = "t41.n1.s21@0/1ms".parse()?;
    let fixed = Generator::new(layout, 0)?;
    let leased = flakeid::lease(&url, layout)?.namespace("calls").open()?;
    let mut rows = [
        Row::new(FIXED, || subject::issued(black_box(&fixed).next_id()).to_u64()),
        Row::new(LEASED, || subject::issued(black_box(&leased).next_id()).to_u64()),
    ];
    let samples = nanoseconds_per_id(&mut rows, plan);
    let names: Vec<_> = rows.iter().map(|row| row.name).collect();
    drop(rows);
    drop(leased);

    let acquire = acquisitions(&url)?;
    let per_minute = renewals(&url, renewing)?;
    let notes = vec![format!(
        "A complete `open` on SQLite (connection, transaction, durable commit, and the thread that renews the lease) \
        takes {:.1} ms, the median of {ACQUISITIONS}, within {:.1} to {:.1} ms. At the default window, there are \
        {per_minute:.0} renewals per minute and process, each of which is one transaction on one row.",
        acquire.median(),
        acquire.min(),
        acquire.max(),
    )];
    let leased_over_fixed = samples[1].over(&samples[0]).median();
    let targets = vec![
        Target::at_most("L1", "leased / fixed `next_id`", 1.05, leased_over_fixed),
        Target::at_most("L2", "acquire on SQLite, ms", 20.0, acquire.median()),
        Target::at_most("L3", "renewals a minute (one in 3.3 s is 18)", 21.6, per_minute),
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
    let mut figures: Vec<_> = names
        .iter()
        .zip(&samples)
        .map(|(name, row)| Figure::new(name, Kind::Cost, "ns", row).over(row, &samples[0]))
        .collect();
    figures.push(Figure::new("acquire on SQLite", Kind::Other, "ms", &acquire));
    figures.push(Figure::single("renewals", Kind::Other, "a minute", per_minute));
    Ok(Section {
        id: "lease",
        title: "6. Leases",
        kind: format!("{} (no layout's cap binds), one thread", Kind::Cost),
        header: vec!["", "ns per ID", "min..max", "× fixed"],
        rows,
        notes,
        targets,
        figures,
    })
}

/// Opens generators repeatedly and returns the milliseconds that each took.
fn acquisitions(url: &str) -> Result<Samples, Box<dyn Error>> {
    let mut samples = Samples::new();
    for _ in 0..ACQUISITIONS {
        let start = Instant::now();
        let leased = flakeid::lease(url, Layout::TWITTER)?.namespace("acquire").open()?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
        black_box(leased.next_id()?);
    }
    Ok(samples)
}

/// Returns the renewals per minute of a generator in use.
fn renewals(url: &str, length: Duration) -> Result<f64, Box<dyn Error>> {
    let leased = flakeid::lease(url, Layout::TWITTER)?.namespace("renew").open()?;
    let used = window::run(1, length, || {
        || {
            std::thread::sleep(Duration::from_millis(1));
            black_box(subject::issued(leased.next_id()));
            1
        }
    });
    Ok(flakeid::Lease::of(&leased).map(|lease| lease.status()).unwrap_or_default().renewals as f64
        * 60.0
        / used.wall.as_secs_f64())
}

/// A temporary directory that is removed when dropped.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new(of: &str) -> std::io::Result<Self> {
        let name = format!("flakeid-bench-{of}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn url(&self) -> String {
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
