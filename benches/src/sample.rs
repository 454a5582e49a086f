//! Sampling in turn: each round measures every row of a table once, so that a slower machine slows all rows and the
//! ratios of one round stay comparable.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Extent of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) batch: Duration,
}

/// One figure of one row, once per round.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Returns the median, or not a number if there is no sample.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
        }
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Adds the two samples of each round.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a + b).collect())
    }

    /// Divides the two samples of each round, which cancels noise that lasts longer than a round.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }
}

/// A row to measure: `calls(n)` makes n calls of `ids_per_call` IDs each.
pub(crate) struct Row<'a> {
    pub(crate) name: &'static str,
    calls: Box<dyn FnMut(u64) + 'a>,
    ids_per_call: u64,
    granularity: u64,
    batch_calls: u64,
}

impl<'a> Row<'a> {
    /// Returns a row of single calls. The loop is compiled for this call; only a whole batch goes through a pointer. In
    /// every row each ID is passed to `black_box` as a plain integer.
    pub(crate) fn new(name: &'static str, mut call: impl FnMut() -> u64 + 'a) -> Self {
        Self::batched(name, 1, 1, move |calls| {
            for _ in 0..calls {
                black_box(call());
            }
        })
    }

    /// Returns a row with a loop of its own, which makes multiples of `granularity` calls.
    pub(crate) fn batched(
        name: &'static str,
        ids_per_call: u64,
        granularity: u64,
        calls: impl FnMut(u64) + 'a,
    ) -> Self {
        Self { name, calls: Box::new(calls), ids_per_call, granularity, batch_calls: granularity }
    }

    fn time(&mut self) -> Duration {
        let start = Instant::now();
        (self.calls)(self.batch_calls);
        start.elapsed()
    }

    /// Chooses the number of calls that fill a batch, and warms up the row meanwhile: caches, branch predictors, and the
    /// first ID, for which a generator may wait a tick.
    fn calibrate(&mut self, batch: Duration) {
        for _ in 0..2 {
            while self.time() < batch / 2 {
                self.batch_calls *= 2;
            }
        }
        let calls = self.batch_calls as f64 * batch.as_secs_f64() / self.time().as_secs_f64();
        let units = (calls / self.granularity as f64).round().max(1.0);
        #[allow(clippy::cast_sign_loss)]
        let units = units as u64;
        self.batch_calls = units * self.granularity;
    }
}

/// Returns the nanoseconds per ID of every row, one sample per round. Each round begins with another row, so that no
/// row always runs after the same one.
pub(crate) fn nanoseconds_per_id(rows: &mut [Row<'_>], plan: Plan) -> Vec<Samples> {
    for row in &mut *rows {
        row.calibrate(plan.batch);
    }
    let mut samples = vec![Samples::new(); rows.len()];
    for round in 0..plan.rounds {
        for turn in 0..rows.len() {
            let index = (round + turn) % rows.len();
            let row = &mut rows[index];
            let nanoseconds = row.time().as_secs_f64() * 1e9;
            samples[index].push(nanoseconds / (row.batch_calls * row.ids_per_call) as f64);
        }
    }
    samples
}
