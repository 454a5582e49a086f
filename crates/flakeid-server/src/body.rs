//! Response bodies, which are sent either whole or as a stream of pieces that contain IDs. After the first piece, each
//! piece is generated only when the previous piece has been passed to the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use flakeid_core::Error;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::forms::Form;
use crate::id_pieces::IdPieces;
use crate::pacing::Pacing;

/// The body of a response.
///
/// ```
/// use flakeid_server::{Body, Service};
/// use hyper::body::Body as _;
/// use hyper::{Request, Response};
///
/// # use std::collections::BTreeMap;
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # runtime.block_on(async {
/// let service = Service::new(BTreeMap::new());
/// let request = Request::new(http_body_util::Empty::new());
/// let response: Response<Body> = service.respond(request).await;
/// assert!(response.body().size_hint().exact().is_some());
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
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

    /// Whether the whole body is already in memory.
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
                    let Some(turn) = stream.pacing.next(Instant::now()) else {
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    };
                    stream.pieces.wait_until(turn);
                }
                let piece = ready!(stream.poll_next(context));
                stream.yields = stream.pieces.left() > 0;
                Poll::Ready(piece.map(|piece| piece.map(|bytes| Frame::data(bytes.into()))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Ids(stream) => stream.pieces.left() == 0 && stream.generated.is_none(),
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

/// IDs that are still to be generated, and the format in which to send them.
#[derive(Debug)]
pub(crate) struct IdStream {
    pieces: IdPieces,
    form: Form,
    is_first: bool,
    pacing: Arc<Pacing>,
    /// The first piece, which is generated before the response begins; `None` after the piece has been sent.
    generated: Option<Vec<u8>>,
    /// Whether to yield to other tasks before sending the next piece. A socket accepts megabytes at a time, so this
    /// connection's task could otherwise send many pieces without ever yielding.
    yields: bool,
}

impl IdStream {
    pub(crate) fn new(pieces: IdPieces, form: Form, pacing: Arc<Pacing>) -> Self {
        Self { pieces, form, is_first: true, pacing, generated: None, yields: false }
    }

    /// Generates the first piece before the response begins, so that a failure becomes an error response. Returns the
    /// whole body if the body has only one piece.
    pub(crate) async fn begin(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let first = std::future::poll_fn(|context| self.poll_next(context)).await;
        let first = first.transpose()?.unwrap_or_default();
        if self.pieces.left() == 0 {
            return Ok(Some(first));
        }
        self.generated = Some(first);
        Ok(None)
    }

    fn size(&self) -> SizeHint {
        match self.form {
            Form::Octets => {
                let generated = self.generated.as_ref().map_or(0, |bytes| bytes.len() as u64);
                SizeHint::with_exact(self.pieces.left().saturating_mul(8).saturating_add(generated))
            }
            _ => SizeHint::default(),
        }
    }

    /// Returns the next piece, or `None` after the last piece. Never blocks the thread.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Error>>> {
        if let Some(bytes) = self.generated.take() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        let ids = match ready!(self.pieces.poll_next(context)) {
            Some(Ok(ids)) => ids,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        };
        let mut out = Vec::with_capacity(ids.len() * self.form.longest() + 16);
        if self.is_first {
            out.extend_from_slice(self.form.before().as_bytes());
        }
        self.form.write(ids, self.is_first, &mut out);
        self.is_first = false;
        if self.pieces.left() == 0 {
            out.extend_from_slice(self.form.after().as_bytes());
        }
        Poll::Ready(Some(Ok(out)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    use flakeid_core::{Generator, ManualClock};
    use http_body_util::BodyExt;
    use prometheus_client::metrics::counter::Counter;

    use crate::id_pieces::PIECE;

    use super::*;

    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn octets(pieces: u64, pacing: &Arc<Pacing>) -> Body {
        let clock = ManualClock::new(1_800_000_000_000);
        let wide = Generator::builder("t41.s22@0/1ms".parse().unwrap());
        let wide = wide.node(0).clock(clock).build().unwrap();
        let wait = Duration::from_secs(1);
        let (count, waits) = (pieces * PIECE, Counter::default());
        let pieces = IdPieces::new(wide, count, wait, waits);
        Body::ids(IdStream::new(pieces, Form::Octets, Arc::clone(pacing)))
    }

    #[test]
    fn long_response_yields_the_thread_between_pieces() {
        let mut body = octets(3, &Arc::new(Pacing::new()));
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
        assert_eq!(counted.0.load(Ordering::SeqCst), 2, "a body that yields must wake its task");
    }

    #[test]
    fn long_response_yields_to_short_requests_between_pieces() {
        let pacing = Arc::new(Pacing::with_others());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let began = Instant::now();
        let sent = runtime.block_on(octets(6, &pacing).collect()).unwrap().to_bytes();
        assert_eq!(sent.len() as u64, 6 * 8 * PIECE);
        // The first piece needs no turn from `Pacing`, and the second piece gets its turn immediately. Each of the other
        // four pieces waits 1 ms for its turn.
        assert!(began.elapsed() >= Duration::from_millis(4), "{:?}", began.elapsed());
    }
}
