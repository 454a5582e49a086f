//! Ends calls whose client does not take their messages. Without this limit, a client could keep the messages of its
//! calls in the server's memory for as long as it responds to pings.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Sleep, sleep_until};

thread_local! {
    /// The time at which the call that is being polled offered a message after which the connection has requested no
    /// other one yet.
    static OFFERED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs the calls of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// The time within which a client must take a message.
    pub(super) timeout: Duration,
}

impl<F> Executor<F> for Calls
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, call: F) {
        let timeout = self.timeout;
        drop(tokio::spawn(Call { future: Box::pin(call), offered: None, timeout, overdue: None }));
    }
}

/// A call. The call ends early, which resets its stream, if the client does not take a message in time.
struct Call<F> {
    future: Pin<Box<F>>,
    offered: Option<Instant>,
    timeout: Duration,
    /// The timer of the message that was offered last.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl<F: Future<Output = ()>> Future for Call<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        OFFERED.set(this.offered);
        let polled = this.future.as_mut().poll(context);
        let offered = OFFERED.take();
        if polled.is_ready() {
            return polled;
        }
        if offered != this.offered {
            this.offered = offered;
            this.overdue = offered.map(|at| Box::pin(sleep_until((at + this.timeout).into())));
        }
        match &mut this.overdue {
            Some(overdue) => overdue.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

/// The body of a response, which records when it offers a message.
pub(super) struct Offering<B>(pub(super) B);

impl<B: Body + Unpin> Body for Offering<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        // The connection requests another message only after it has room for it.
        let polled = Pin::new(&mut self.0).poll_frame(context);
        let is_offer = matches!(polled, Poll::Ready(Some(Ok(_))));
        OFFERED.set(is_offer.then(Instant::now));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
