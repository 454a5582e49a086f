//! IDs in pieces of at most 4,096, generated without blocking the thread.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use flakeid::Generator;
use flakeid_core::{Error, Id};
use prometheus_client::metrics::counter::Counter;
use tokio::time::{Sleep, sleep, sleep_until};

/// The number of IDs generated at a time, so that a long response neither delays others nor needs
/// much memory.
pub(crate) const PIECE: u64 = 4_096;

/// IDs that are still to be generated, in any format.
pub(crate) struct IdPieces {
    generator: Generator,
    left: u64,
    /// The next piece.
    ids: Vec<Id>,
    /// The number of IDs in the next piece that have been generated.
    filled: usize,
    /// The longest time that one piece may wait for the generator.
    max_wait: Duration,
    waiting_since: Option<Instant>,
    waits: Counter,
    /// The wait for the generator, or for this response's turn.
    wait: Option<Pin<Box<Sleep>>>,
}

impl IdPieces {
    pub(crate) fn new(
        generator: Generator,
        count: u64,
        max_wait: Duration,
        waits: Counter,
    ) -> Self {
        let (ids, filled) = (Vec::new(), 0);
        Self {
            generator,
            left: count,
            ids,
            filled,
            max_wait,
            waiting_since: None,
            waits,
            wait: None,
        }
    }

    /// The number of IDs after the pieces so far.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Delays the next piece until that time.
    pub(crate) fn wait_until(&mut self, turn: Instant) {
        self.wait = Some(Box::pin(sleep_until(turn.into())));
    }

    /// Returns the next piece, or `None` after the last one. Never blocks the thread.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<&[Id], Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        // A piece is complete before it is sent, so a response of one piece is complete or an
        // error.
        let wanted = self.left.min(PIECE) as usize;
        self.ids.resize(wanted, Id::default());
        while self.filled < wanted {
            if let Some(wait) = &mut self.wait {
                ready!(wait.as_mut().poll(context));
                self.wait = None;
            }
            match self.generator.try_fill(&mut self.ids[self.filled..]) {
                Ok(filled) => self.filled += filled,
                Err(error) => {
                    let Some(wait) = self.wait_for(&error) else {
                        self.left = 0;
                        return Poll::Ready(Some(Err(error)));
                    };
                    self.wait = Some(Box::pin(sleep(wait)));
                }
            }
        }
        let filled = std::mem::take(&mut self.filled);
        self.waiting_since = None;
        self.left -= filled as u64;
        Poll::Ready(Some(Ok(&self.ids[..filled])))
    }

    /// Returns the time until the next attempt, or `None` if there is no further attempt.
    fn wait_for(&mut self, error: &Error) -> Option<Duration> {
        let since = *self.waiting_since.get_or_insert_with(|| {
            self.waits.inc();
            Instant::now()
        });
        let left = self.max_wait.checked_sub(since.elapsed()).filter(|left| !left.is_zero())?;
        let wait = error.retry_after().filter(|_| error.kind().is_retryable())?;
        Some(wait.clamp(Duration::from_millis(1), Duration::from_millis(50)).min(left))
    }
}

impl fmt::Debug for IdPieces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IdPieces").field("left", &self.left).finish_non_exhaustive()
    }
}
