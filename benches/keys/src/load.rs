//! Inserts: rounds of steps, in each of which every kind has its turn.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::database::{Database, Wal};
use crate::figures::{Figures, Measure};
use crate::kind::Kind;
use crate::session::{BATCH, Failed, Session};

/// The number of sessions of the steps with many sessions.
pub(crate) const SESSIONS: usize = 16;

/// The numbers of rows in one round.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// All rows of a round in one table.
    pub(crate) rows: usize,
    /// The rows of each of the four steps with single-row commits.
    singles: [(Measure, usize, bool, usize); 4],
    /// The rows of each of the two steps with batches.
    batched: [usize; 2],
}

impl Plan {
    /// Divides the rows of a round. The numbers of single rows are limited, because durable commits are slow.
    pub(crate) fn new(rows: usize) -> Self {
        let limited = |wanted: usize| wanted.min(rows / 10 / SESSIONS * SESSIONS);
        let singles = [
            (Measure::SingleDurable1, 1, true, (rows / 40).min(992)),
            (Measure::SingleDurable16, SESSIONS, true, limited(8_000)),
            (Measure::Single1, 1, false, limited(16_000)),
            (Measure::Single16, SESSIONS, false, limited(32_000)),
        ];
        // One more batch is inserted to count the pages that it changes.
        let single: usize = singles.iter().map(|(.., count)| count).sum();
        let left = (rows - single).saturating_sub(BATCH);
        Self { rows, singles, batched: [left / 2, left - left / 2] }
    }

    /// The rows of the step with batches and many sessions.
    pub(crate) fn batched_by_many(&self) -> usize {
        self.batched[1]
    }
}

/// A span of time in Unix milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// The outcome of one step.
struct Inserted {
    per_second: f64,
    wal: Wal,
    span: Span,
}

pub(crate) struct Load<'a> {
    pub(crate) database: &'a Database,
    pub(crate) sessions: Vec<Session>,
    pub(crate) figures: &'a mut Figures,
    /// The number of steps during which the server wrote a checkpoint on its own.
    pub(crate) disturbed: &'a mut usize,
}

impl Load<'_> {
    /// Inserts the rows of one round into the table of one kind. Returns the time of the step with batches and many
    /// sessions.
    pub(crate) fn round(&mut self, kind: Kind, plan: &Plan) -> Result<Span, Failed> {
        let steps = [
            (1, Measure::Batch1, Measure::Records1, Measure::Images1, Measure::Splits1),
            (SESSIONS, Measure::Batch16, Measure::Records16, Measure::Images16, Measure::Splits16),
        ];
        let mut span = Span { from: 0, until: 0 };
        for ((sessions, rate, records, images, splits), rows) in steps.into_iter().zip(plan.batched)
        {
            self.database.checkpoint()?;
            self.database.warm(kind)?;
            let inserted = self.step(kind, sessions, rows, BATCH)?;
            let per_row = |value: f64| value / rows as f64;
            self.figures.record(rate, kind, inserted.per_second);
            self.figures.record(records, kind, per_row(inserted.wal.records));
            self.figures.record(images, kind, per_row(inserted.wal.images));
            self.figures.record(splits, kind, per_row(inserted.wal.splits) * 1000.0);
            span = inserted.span;
        }
        let before = self.database.position()?;
        self.sessions[0].insert(kind, BATCH, BATCH)?;
        let pages = self.database.changed_index_pages(&before, &self.database.position()?)?;
        self.figures.record(Measure::ChangedPages, kind, pages);
        for (measure, sessions, durable, rows) in plan.singles {
            self.set_durable(durable)?;
            let inserted = self.step(kind, sessions, rows, 1)?;
            self.figures.record(measure, kind, inserted.per_second);
            if measure == Measure::SingleDurable1 {
                let bytes = inserted.wal.records + inserted.wal.images;
                self.figures.record(Measure::SingleWal1, kind, bytes / rows as f64);
            }
        }
        self.set_durable(true)?;
        Ok(span)
    }

    /// Inserts batches into a table that may have an index on its time.
    pub(crate) fn with_time_index(&mut self, kind: Kind, rows: usize) -> Result<(), Failed> {
        self.database.checkpoint()?;
        self.database.warm(kind)?;
        let inserted = self.step(kind, SESSIONS, rows, BATCH)?;
        self.figures.record(Measure::Batch16WithTime, kind, inserted.per_second);
        Ok(())
    }

    fn set_durable(&mut self, durable: bool) -> Result<(), Failed> {
        self.sessions.iter_mut().try_for_each(|session| session.set_durable(durable))
    }

    /// Inserts rows from several sessions at the same time.
    fn step(
        &mut self,
        kind: Kind,
        sessions: usize,
        rows: usize,
        batch: usize,
    ) -> Result<Inserted, Failed> {
        let checkpoint = self.database.last_checkpoint()?;
        let before = self.database.position()?;
        let from = unix_ms()?;
        let took = insert(&mut self.sessions[..sessions], kind, rows, batch)?;
        let span = Span { from, until: unix_ms()? };
        let after = self.database.position()?;
        *self.disturbed += usize::from(checkpoint != self.database.last_checkpoint()?);
        let wal = self.database.wal(&before, &after)?;
        Ok(Inserted { per_second: rows as f64 / took.as_secs_f64(), wal, span })
    }
}

fn insert(
    sessions: &mut [Session],
    kind: Kind,
    rows: usize,
    batch: usize,
) -> Result<Duration, Failed> {
    let (share, rest) = (rows / sessions.len(), rows % sessions.len());
    let start = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .iter_mut()
            .enumerate()
            .map(|(index, session)| {
                let rows = share + if index == 0 { rest } else { 0 };
                scope.spawn(move || session.insert(kind, rows, batch))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err("a session panicked".into()))
        })
    })?;
    Ok(start.elapsed())
}

fn unix_ms() -> Result<u64, Failed> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_inserts_exactly_the_rows_of_a_round() {
        for rows in [4_000, 5_001, 100_000, 1_000_000] {
            let plan = Plan::new(rows);
            let singles: usize = plan.singles.iter().map(|(.., count)| count).sum();
            assert_eq!(plan.batched.iter().sum::<usize>() + singles + BATCH, rows);
            assert!(plan.batched[0] > 0 && plan.singles.iter().all(|(.., count)| *count > 0));
        }
    }
}
