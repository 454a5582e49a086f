//! One connection, from its first byte to its end: the TLS handshake, the requests and the shutdown.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Request;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::connections::{Busy, Slot, State};
use crate::listener::Stream;
use crate::poll_on_wake::PollOnWake;
use crate::rate::Peer;
use crate::service::Service;
use crate::tls::{self, TlsSettings};

/// The maximum length of a request head, in bytes. The server rejects a longer head with status 431.
pub(crate) const LONGEST_HEAD: usize = 16 * 1_024;

/// The time limit for sending the last bytes on a closing connection that has no request in progress.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// An accepted connection.
pub(crate) struct Connection {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) peer: Option<Peer>,
    /// The names in the client's certificate.
    pub(crate) names: Arc<[String]>,
    pub(crate) slot: Slot,
}

/// The parts of the server that the connections of one listener share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) service: Arc<Service>,
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) phases: Phases,
    pub(crate) idle_timeout: Duration,
    #[cfg(feature = "grpc")]
    pub(crate) write_timeout: Duration,
    /// Whether the listener serves only health checks and metrics.
    pub(crate) is_admin: bool,
}

/// The phases of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Serving,
    /// The server reports that it is not ready, but still serves every request.
    Draining,
    /// The second half of the drain: the server signals clients to close long-lived connections.
    Leaving,
    /// The server completes the requests in progress, and closes all connections.
    Closing,
}

/// The receiver of changes to the server's phase.
pub(crate) type Phases = watch::Receiver<Phase>;

/// Waits until the server has reached the given phase or a later phase.
pub(crate) async fn reached(phases: &mut Phases, phase: Phase) {
    // An error means that the sender has been dropped, which happens only when the server has ended.
    drop(phases.wait_for(|now| *now >= phase).await);
}

pub(crate) async fn has_reached(mut phases: Phases, phase: Phase) {
    reached(&mut phases, phase).await;
}

/// Serves an HTTP/1.1 connection. Errors are ignored, because the client may close the connection at any time.
pub(crate) async fn serve(connection: Connection, shared: Shared) {
    let Some(connection) = encrypted(connection, &shared).await else { return };
    let Connection { stream, peer, names, slot } = connection;
    let Shared { service, phases, idle_timeout, is_admin, .. } = shared;
    let state = Arc::clone(&slot.state);
    // One reference count for each connection, because all connections would contend for the service's.
    let parts = Arc::new((service, Arc::clone(&state), names));
    let respond = service_fn(move |request: Request<Incoming>| {
        let parts = Arc::clone(&parts);
        async move {
            let (service, state, names) = &*parts;
            let busy = Busy::new(state);
            let response = if is_admin {
                service.respond_to_admin(&request)
            } else {
                service.respond_on(state, peer, names, request).await
            };
            let mut response = response.map(|body| Guarded { body, _busy: busy });
            if service.is_draining() {
                let headers = response.headers_mut();
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    // `State::receives_no_request` limits the time for a request head, because hyper's own time limit creates a timer
    // for each request.
    let connection = Builder::new()
        .header_read_timeout(None)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), respond);
    let leaves = async move {
        tokio::select! {
            () = state.receives_no_request(idle_timeout) => {}
            () = has_reached(phases, Phase::Closing) => {}
        }
    };
    Serving::new(connection, slot, leaves, idle_timeout).await;
}

type Event = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection that is served until the client closes it. The server also ends the connection if another connection
/// replaces it, if its client does not use it, or after a given event.
pub(crate) struct Serving<C> {
    connection: Pin<Box<C>>,
    closes: PollOnWake<Closing>,
    /// The event at which the closing connection ends; `None` while the connection is open.
    end: Option<Event>,
    slot: Slot,
}

/// The way in which a connection closes.
enum Closing {
    /// The connection ends after the time for its last bytes.
    Soon,
    /// The connection ends once no request is in progress.
    WhenIdle,
}

impl<C: GracefulConnection> Serving<C> {
    /// Creates a connection that closes after the event `leaves`, once no request is in progress.
    pub(crate) fn new(
        connection: C,
        slot: Slot,
        leaves: impl Future<Output = ()> + Send + 'static,
        idle_timeout: Duration,
    ) -> Self {
        let must_end = slot.must_end(idle_timeout);
        let closes = PollOnWake::new(async move {
            tokio::select! {
                biased;
                () = must_end => Closing::Soon,
                () = leaves => Closing::WhenIdle,
            }
        });
        Self { connection: Box::pin(connection), closes, end: None, slot }
    }
}

impl<C: GracefulConnection> Future for Serving<C> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.end.is_none()
            && let Poll::Ready(closing) = Pin::new(&mut this.closes).poll(context)
        {
            this.connection.as_mut().graceful_shutdown();
            this.end = Some(match closing {
                Closing::Soon => Box::pin(sleep(LAST_BYTES)),
                Closing::WhenIdle => Box::pin(becomes_idle(Arc::clone(&this.slot.state))),
            });
        }
        if this.connection.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        match &mut this.end {
            None => Poll::Pending,
            Some(end) => end.as_mut().poll(context),
        }
    }
}

/// Waits until the connection has sent its last bytes and no request is in progress. An incomplete request head does
/// not count as a request.
async fn becomes_idle(state: Arc<State>) {
    loop {
        sleep(LAST_BYTES).await;
        if state.is_idle() {
            return;
        }
    }
}

/// A response body that marks its connection as busy until the body has been sent.
pub(crate) struct Guarded<B> {
    pub(crate) body: B,
    pub(crate) _busy: Busy,
}

impl<B: Body + Unpin> Body for Guarded<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Performs the TLS handshake if the listener uses TLS, and returns the connection. Returns `None` if the handshake
/// fails or takes too long, if another connection replaces this connection, or if the server shuts down during the
/// handshake.
pub(crate) fn encrypted(
    connection: Connection,
    shared: &Shared,
) -> Pin<Box<dyn Future<Output = Option<Connection>> + Send>> {
    let Some(tls) = &shared.tls else { return Box::pin(ready(Some(connection))) };
    let Connection { stream, peer, slot, .. } = connection;
    let handshake = tls.acceptor().accept(stream);
    let must_end = slot.must_end(shared.idle_timeout);
    let ending = has_reached(shared.phases.clone(), Phase::Closing);
    Box::pin(async move {
        let stream = tokio::select! {
            encrypted = handshake => Box::new(encrypted.ok()?),
            () = must_end => return None,
            () = ending => return None,
        };
        let certificates = stream.get_ref().1.peer_certificates();
        let names = certificates.and_then(<[_]>::first).map(tls::names).unwrap_or_default();
        Some(Connection { stream, peer, names: names.into(), slot })
    })
}
