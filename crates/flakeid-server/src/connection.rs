//! One connection, from its first byte to its last.

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

/// The longest head of a request, in bytes. More is answered with 431.
const LONGEST_HEAD: usize = 16 * 1_024;

/// Serves a connection. How it ends is the client's business: it may leave at any time.
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
    // From here on the watcher says so.
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

/// Whether the server is to end.
pub(crate) type EndWatch = watch::Receiver<bool>;

/// Ready once the server is to end.
pub(crate) async fn ended(is_ending: &mut EndWatch) {
    // The sender lives longer than the connection, or the process ends.
    drop(is_ending.wait_for(|is_ending| *is_ending).await);
}

/// The connection after its handshake, if there is one; `None` if that fails, takes too long, or is overtaken by
/// the end of the server.
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
