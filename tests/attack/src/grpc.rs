//! Calls over gRPC, whose messages are written by hand.

use std::net::IpAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::Failure;
use crate::wire::connect;

/// The client's window for a stream. It is small, so that a client that reads nothing stops the server early.
const WINDOW: u32 = 16_384;

/// A connection for calls.
#[derive(Clone)]
pub(crate) struct Calls(SendRequest<Full<Bytes>>);

impl Calls {
    pub(crate) async fn open(from: IpAddr, port: u16) -> Result<Self, Failure> {
        let stream = connect(from, port).await?;
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    /// Begins a call. `method` is `Next` or `Stream`.
    pub(crate) async fn begin(
        &mut self,
        method: &str,
        token: &str,
        count: u32,
    ) -> Result<Response<Incoming>, Failure> {
        let mut message = b"\x0a\x07default\x10".to_vec();
        let mut rest = count;
        // The encoding of numbers in Protocol Buffers: groups of seven bits, the lowest first.
        while rest >= 0x80 {
            message.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        message.push(rest as u8);
        let body = [&[0, 0, 0, 0, message.len() as u8], &*message].concat();
        let request = Request::post(format!("http://localhost/flakeid.v1.Ids/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("authorization", format!("Bearer {token}"))
            .body(Full::new(Bytes::from(body)))?;
        self.0.ready().await?;
        Ok(self.0.send_request(request).await?)
    }

    /// Requests an ID, and returns the status of the call, which is `0` after success.
    pub(crate) async fn one(&mut self, method: &str, token: &str) -> Result<String, Failure> {
        let response = self.begin(method, token, 1).await?;
        let status = |headers: &hyper::HeaderMap| {
            Some(headers.get("grpc-status")?.to_str().ok()?.to_owned())
        };
        if let Some(status) = status(response.headers()) {
            return Ok(status);
        }
        let body = response.into_body().collect().await?;
        body.trailers().and_then(status).ok_or_else(|| "the call has no status".into())
    }
}
