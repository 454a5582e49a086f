//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::time::timeout;

use crate::listener::Stream;
use crate::service::Service;
use crate::tls::TlsSettings;

/// The longest head of a request, in bytes. More is answered with 431.
const LONGEST_HEAD: usize = 16 * 1_024;

/// Serves a connection. How it ends is the client's business: it may leave at any time.
pub(crate) async fn serve(
    stream: Box<dyn Stream>,
    tls: Option<TlsSettings>,
    service: Arc<Service>,
    watcher: Watcher,
    idle_timeout: Duration,
) {
    let stream: Box<dyn Stream> = match tls {
        None => stream,
        Some(tls) => match timeout(idle_timeout, tls.acceptor.accept(stream)).await {
            Ok(Ok(stream)) => Box::new(stream),
            Ok(Err(_)) | Err(_) => return,
        },
    };
    let respond = service_fn(move |request: hyper::Request<Incoming>| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.respond(request).await) }
    });
    let connection = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle_timeout)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), respond);
    drop(watcher.watch(connection).await);
}
