//! Bodies of answers: whole, or IDs in pieces, each generated when the client has taken the one before.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use flakeid_core::{Error, Id};
use flakeid_lease::AnyGenerator;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use prometheus_client::metrics::counter::Counter;
use tokio::time::{Sleep, sleep, sleep_until};

use crate::forms::Form;
use crate::turns::Turns;

/// How many IDs are generated at a time: a long answer holds up neither others nor memory.
pub(crate) const PIECE: u64 = 4_096;

/// The body of an answer.
#[derive(Debug)]
pub struct Body(Content);

#[derive(Debug)]
enum Content {
    Whole(Option<Bytes>),
    Ids(Box<IdStream>),
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self(Content::Whole((!bytes.is_empty()).then_some(bytes)))
    }

    pub(crate) fn ids(stream: IdStream) -> Self {
        Self(Content::Ids(Box::new(stream)))
    }

    /// Whether it is all there already.
    pub(crate) const fn is_whole(&self) -> bool {
        matches!(self.0, Content::Whole(_))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match &mut self.0 {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Ids(stream) => {
                if std::mem::take(&mut stream.yields) {
                    let Some(turn) = stream.turns.next(Instant::now()) else {
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    };
                    stream.wait = Some(Box::pin(sleep_until(turn.into())));
                }
                let piece = ready!(stream.poll_next(context));
                stream.yields = stream.left > 0;
                Poll::Ready(piece.map(|piece| piece.map(|bytes| Frame::data(bytes.into()))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Ids(stream) => stream.left == 0 && stream.generated.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Ids(stream) => stream.size(),
        }
    }
}

/// IDs that are still to be generated, and how.
#[derive(Debug)]
pub(crate) struct IdStream {
    generator: AnyGenerator,
    form: Form,
    left: u64,
    is_first: bool,
    /// The next piece, and how much of it there is.
    ids: Vec<Id>,
    filled: usize,
    /// How long one piece may wait for the generator.
    max_wait: Duration,
    waiting_since: Option<Instant>,
    waits: Counter,
    turns: Arc<Turns>,
    /// For the generator, or for this answer's turn.
    wait: Option<Pin<Box<Sleep>>>,
    /// A piece that was generated before it was asked for.
    generated: Option<Vec<u8>>,
    /// Whether others get the thread before the next piece. A socket takes megabytes at a time, so
    /// this connection's task would otherwise have it for many pieces.
    yields: bool,
}

impl IdStream {
    pub(crate) fn new(
        generator: AnyGenerator,
        form: Form,
        count: u64,
        max_wait: Duration,
        waits: Counter,
        turns: Arc<Turns>,
    ) -> Self {
        Self {
            generator,
            form,
            left: count,
            is_first: true,
            ids: Vec::new(),
            filled: 0,
            max_wait,
            waiting_since: None,
            waits,
            turns,
            wait: None,
            generated: None,
            yields: false,
        }
    }

    /// Generates the first piece, so that a generator that cannot is an answer of its own. Returns
    /// the whole text if that was all.
    pub(crate) async fn begin(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let first = std::future::poll_fn(|context| self.poll_next(context)).await;
        let first = first.transpose()?.unwrap_or_default();
        if self.left == 0 {
            return Ok(Some(first));
        }
        self.generated = Some(first);
        Ok(None)
    }

    fn size(&self) -> SizeHint {
        match self.form {
            Form::Octets => {
                let generated = self.generated.as_ref().map_or(0, |bytes| bytes.len() as u64);
                SizeHint::with_exact(self.left.saturating_mul(8).saturating_add(generated))
            }
            _ => SizeHint::default(),
        }
    }

    /// The next piece; `None` after the last. Never waits on the thread.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Error>>> {
        if let Some(bytes) = self.generated.take() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        if self.left == 0 {
            return Poll::Ready(None);
        }
        // A piece is complete before it is sent, so an answer of one piece is complete or an error.
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
        let mut out = Vec::with_capacity(filled * self.form.longest() + 16);
        if self.is_first {
            out.extend_from_slice(self.form.before().as_bytes());
        }
        self.form.write(&self.ids, self.is_first, &mut out);
        self.is_first = false;
        if self.left == 0 {
            out.extend_from_slice(self.form.after().as_bytes());
        }
        Poll::Ready(Some(Ok(out)))
    }

    /// For how long to wait before the next attempt; `None` if there is none.
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use flakeid_core::{Generator, ManualClock};
    use http_body_util::BodyExt;

    use super::*;

    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn octets(pieces: u64, turns: &Arc<Turns>) -> Body {
        let clock = ManualClock::new(1_800_000_000_000);
        let wide = Generator::builder("t41.s22@0/1ms".parse().unwrap());
        let wide = wide.node(0).clock(clock).build().unwrap();
        let wait = Duration::from_secs(1);
        let (count, waits) = (pieces * PIECE, Counter::default());
        let (form, turns) = (Form::Octets, Arc::clone(turns));
        Body::ids(IdStream::new(wide.into(), form, count, wait, waits, turns))
    }

    #[test]
    fn others_have_their_turn_between_two_pieces() {
        let mut body = octets(3, &Arc::new(Turns::new()));
        let counted = Arc::new(Wakes(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&counted));
        let mut polls = Vec::new();
        while !body.is_end_stream() {
            match Pin::new(&mut body).poll_frame(&mut Context::from_waker(&waker)) {
                Poll::Ready(piece) => {
                    let piece = piece.unwrap().unwrap().into_data().unwrap();
                    polls.push(Some(piece.len() as u64));
                }
                Poll::Pending => polls.push(None),
            }
        }
        let piece = Some(8 * PIECE);
        assert_eq!(polls, [piece, None, piece, None, piece]);
        assert_eq!(counted.0.load(Ordering::SeqCst), 2, "whoever yields asks for another turn");
    }

    #[test]
    fn while_others_ask_pieces_are_a_turn_apart() {
        let turns = Arc::new(Turns::with_others());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let began = Instant::now();
        let sent = runtime.block_on(octets(6, &turns).collect()).unwrap().to_bytes();
        assert_eq!(sent.len() as u64, 6 * 8 * PIECE);
        // The first needs no turn, and that of the second has come already.
        assert!(began.elapsed() >= Duration::from_millis(4), "{:?}", began.elapsed());
    }
}
