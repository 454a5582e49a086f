//! The durations of calls, and the number of calls per second.

use std::time::{Duration, Instant};

use flakeid_protocol::store::Fault;
use serde_json::{Value, json};

/// The durations of the calls of one connection, in microseconds.
#[derive(Default)]
pub(super) struct Timed {
    micros: Vec<u64>,
    failed: u64,
}

impl Timed {
    pub(super) fn call<T>(&mut self, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        let began = Instant::now();
        let done = work();
        match &done {
            Ok(_) => self.micros.push(began.elapsed().as_micros() as u64),
            Err(_) => self.failed += 1,
        }
        done
    }
}

/// The combined speed of all connections.
pub(super) struct Speed {
    pub(super) per_second: f64,
    median_ms: f64,
    p99_ms: f64,
    failed: u64,
}

impl Speed {
    pub(super) fn new(parts: Vec<Timed>, took: Duration) -> Self {
        let failed = parts.iter().map(|part| part.failed).sum();
        let mut micros: Vec<u64> = parts.into_iter().flat_map(|part| part.micros).collect();
        micros.sort_unstable();
        let at = |percent: usize| {
            let found = micros.get((micros.len() * percent / 100).min(micros.len().max(1) - 1));
            found.map_or(f64::NAN, |micros| *micros as f64 / 1e3)
        };
        Self {
            per_second: micros.len() as f64 / took.as_secs_f64(),
            median_ms: at(50),
            p99_ms: at(99),
            failed,
        }
    }

    /// Returns the cells of a Markdown row.
    pub(super) fn cells(&self) -> String {
        let Self { per_second, median_ms, p99_ms, failed } = self;
        format!("{per_second:.0} | {median_ms:.2} | {p99_ms:.2} | {failed}")
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "per_second": self.per_second.round(),
            "median_ms": self.median_ms,
            "p99_ms": self.p99_ms,
            "failed": self.failed,
        })
    }
}
