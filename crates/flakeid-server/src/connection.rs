//! One connection, from its first byte to its last: TLS, requests and the end of the server.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::listener::Stream;
use crate::rate::Peer;
use crate::service::Service;
use crate::tls::TlsSettings;

/// The longest head of a request, in bytes. A longer one gets status 431.
const LONGEST_HEAD: usize = 16 * 1_024;

/// Serves a connection. Errors are ignored, because the client may close it at any time.
pub(crate) async fn serve(
    stream: Box<dyn Stream>,
    peer: Option<IpAddr>,
    tls: Option<TlsSettings>,
    service: Arc<Service>,
    watcher: Watcher,
    mut is_ending: EndWatch,
    idle_timeout: Duration,
) {
    let Some(stream) = encrypted(stream, tls, &mut is_ending, idle_timeout).await else { return };
    // From here on the watcher reports the end of the server.
    drop(is_ending);
    let respond = service_fn(move |mut request: hyper::Request<Incoming>| {
        let service = Arc::clone(&service);
        if let Some(peer) = peer {
            request.extensions_mut().insert(Peer(peer));
        }
        async move { Ok::<_, Infallible>(service.respond(request).await) }
    });
    let connection = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle_timeout)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), respond);
    drop(watcher.watch(connection).await);
}

/// The receiver of the signal that the server is shutting down.
pub(crate) type EndWatch = watch::Receiver<bool>;

/// Waits until the server shuts down.
pub(crate) async fn ended(is_ending: &mut EndWatch) {
    // The sender lives longer than the connection, or the process ends.
    drop(is_ending.wait_for(|is_ending| *is_ending).await);
}

/// Returns the connection after its TLS handshake, if it uses TLS. Returns `None` if the handshake
/// fails or takes too long, or if the server shuts down meanwhile.
pub(crate) async fn encrypted(
    stream: Box<dyn Stream>,
    tls: Option<TlsSettings>,
    is_ending: &mut EndWatch,
    idle_timeout: Duration,
) -> Option<Box<dyn Stream>> {
    let Some(tls) = tls else { return Some(stream) };
    tokio::select! {
        encrypted = timeout(idle_timeout, tls.acceptor.accept(stream)) => match encrypted {
            Ok(Ok(stream)) => Some(Box::new(stream)),
            Ok(Err(_)) | Err(_) => None,
        },
        () = ended(is_ending) => None,
    }
}
