//! A bare server: hyper, which responds with prepared bodies.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::{self, Runtime};

/// Name of its threads.
pub(super) const THREADS: &str = "bare-serve";

/// Response to the requests of one path.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) path: &'static str,
    pub(super) media_type: &'static str,
    /// A part of the body, sent `pieces` times.
    pub(super) piece: Bytes,
    pub(super) pieces: usize,
}

/// A server that runs until it is dropped.
pub(super) struct BareServer {
    pub(super) address: SocketAddr,
    _runtime: Runtime,
}

impl BareServer {
    /// Starts the server with as many threads as flakeid's server.
    pub(super) fn start(answers: Vec<Answer>) -> Result<Self, Box<dyn Error>> {
        let runtime = runtime::Builder::new_multi_thread()
            .thread_name(THREADS)
            .enable_io()
            .enable_time()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        runtime.spawn(accept(listener, Arc::new(answers)));
        Ok(Self { address, _runtime: runtime })
    }
}

async fn accept(listener: TcpListener, answers: Arc<Vec<Answer>>) {
    // A connection that the client closes is not an error.
    while let Ok((stream, _)) = listener.accept().await {
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        let answers = Arc::clone(&answers);
        let respond = service_fn(move |request: Request<Incoming>| {
            let answer = respond(&request, &answers);
            async move { Ok::<_, Infallible>(answer) }
        });
        tokio::spawn(Builder::new().serve_connection(TokioIo::new(stream), respond));
    }
}

fn respond(request: &Request<Incoming>, answers: &[Answer]) -> Response<Pieces> {
    let path = request.uri().path();
    let Some(answer) = answers.iter().find(|answer| answer.path == path) else {
        let mut response = Response::new(Pieces { piece: Bytes::new(), left: 0 });
        *response.status_mut() = hyper::StatusCode::NOT_FOUND;
        return response;
    };
    let pieces = Pieces { piece: answer.piece.clone(), left: answer.pieces };
    let mut response = Response::new(pieces);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A body that repeats the same bytes.
struct Pieces {
    piece: Bytes,
    left: usize,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact((self.piece.len() * self.left) as u64)
    }
}
