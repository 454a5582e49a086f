//! Generates IDs in pieces of at most 4,096 IDs, without blocking the thread.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use flakeid::Generator;
use flakeid_core::{Error, Id};
use prometheus_client::metrics::counter::Counter;
use tokio::time::{Sleep, sleep, sleep_until};

/// The maximum number of IDs in a piece. The number is small, so that a long response does not delay other responses or
/// require much memory.
pub(crate) const PIECE: u64 = 4_096;

/// The generator of a response's IDs, which returns the IDs in pieces.
pub(crate) struct IdPieces {
    generator: Generator,
    left: u64,
    /// The next piece.
    ids: Vec<Id>,
    /// The number of IDs already generated for the next piece.
    filled: usize,
    /// The longest time that each piece may wait for the generator.
    max_wait: Duration,
    waiting_since: Option<Instant>,
    waits: Counter,
    /// The timer of the current wait, either for the generator or for this response's turn to send.
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

    /// The number of IDs that have not been returned yet.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Delays the next piece until `turn`, the time at which this response may send again.
    pub(crate) fn wait_until(&mut self, turn: Instant) {
        self.wait = Some(Box::pin(sleep_until(turn.into())));
    }

    /// Returns the next piece, or `None` after the last piece. This function never blocks the thread.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<&[Id], Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        // A piece is returned only when it is complete, so that a response that consists of a single piece is never
        // truncated by an error.
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

    /// Returns the time to wait before the next attempt, or `None` if the error is not retryable or the wait has
    /// reached `max_wait`.
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
