//! A client of the servers: it keeps its connections and sends one request after another on each.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Barrier;
use tokio::time::sleep;

use crate::histogram::Histogram;

type Failed = Box<dyn Error + Send + Sync>;

/// The requests that a number of callers send at the same time.
#[derive(Clone)]
pub(super) struct Load {
    pub(super) address: SocketAddr,
    pub(super) method: Method,
    pub(super) target: &'static str,
    pub(super) accept: &'static str,
    pub(super) connections: usize,
    /// Pause between a response and the next request.
    pub(super) pause: Option<Duration>,
    /// Expected length of a body.
    pub(super) bytes: Option<usize>,
}

/// Results of a load.
pub(super) struct Outcome {
    pub(super) requests: u64,
    pub(super) calls: Histogram,
    pub(super) wall: Duration,
}

impl Outcome {
    pub(super) fn per_second(&self) -> f64 {
        self.requests as f64 / self.wall.as_secs_f64()
    }

    /// Returns a percentile in microseconds, or not a number if there was no response.
    pub(super) fn percentile(&self, share: f64) -> f64 {
        self.calls.percentile(share).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6)
    }
}

/// One runtime for the callers that are measured, and one for the other callers.
pub(super) struct Client([Runtime; 2]);

impl Client {
    pub(super) fn new() -> Result<Self, Box<dyn Error>> {
        let measured = Builder::new_multi_thread().enable_io().enable_time().build()?;
        // In production these callers run on another machine. Here they get only the time that the others leave.
        let beside = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .enable_time()
            .on_thread_start(|| {
                let lowered = rustix::process::setpriority_process(None, 19);
                assert!(lowered.is_ok(), "a thread may always lower its own priority");
            })
            .build()?;
        Ok(Self([measured, beside]))
    }

    /// Runs all loads at the same time for the given length, and returns the results of the first.
    pub(super) fn run(&self, loads: &[Load], length: Duration) -> Result<Outcome, Box<dyn Error>> {
        let all: usize = loads.iter().map(|load| load.connections).sum();
        let [measured, beside] = &self.0;
        measured
            .block_on(async {
                let start = Arc::new(Barrier::new(all));
                let mut callers = Vec::new();
                for (number, load) in loads.iter().enumerate() {
                    let runtime = if number == 0 { measured } else { beside };
                    for _ in 0..load.connections {
                        let caller = call(load.clone(), Arc::clone(&start), length);
                        callers.push(runtime.spawn(caller));
                    }
                }
                let of_the_first = loads.first().map_or(0, |load| load.connections);
                let mut outcome =
                    Outcome { requests: 0, calls: Histogram::new(), wall: Duration::ZERO };
                for (caller, number) in callers.into_iter().zip(0..) {
                    let (calls, wall) = caller.await??;
                    if number < of_the_first {
                        outcome.requests += calls.count();
                        outcome.wall = outcome.wall.max(wall);
                        outcome.calls.merge(&calls);
                    }
                }
                Ok::<_, Failed>(outcome)
            })
            .map_err(|error| -> Box<dyn Error> { error })
    }
}

async fn call(
    load: Load,
    start: Arc<Barrier>,
    length: Duration,
) -> Result<(Histogram, Duration), Failed> {
    let mut calls = Histogram::new();
    let connected = async {
        let mut sender = connect(load.address).await?;
        ask(&mut sender, &load).await?;
        Ok::<_, Failed>(sender)
    };
    let connected = connected.await;
    // After a failure too, because the others would wait forever.
    start.wait().await;
    let mut sender = connected?;
    let began = Instant::now();
    while began.elapsed() < length {
        let before = Instant::now();
        ask(&mut sender, &load).await?;
        calls.record(before.elapsed());
        if let Some(pause) = load.pause {
            sleep(pause).await;
        }
    }
    Ok((calls, began.elapsed()))
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Empty<Bytes>>, Failed> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends one request and reads the whole response.
async fn ask(sender: &mut SendRequest<Empty<Bytes>>, load: &Load) -> Result<(), Failed> {
    let request = Request::builder()
        .method(load.method.clone())
        .uri(load.target)
        .header(HOST, "localhost")
        .header(ACCEPT, load.accept)
        .body(Empty::new())?;
    sender.ready().await?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let mut body = answer.into_body();
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        bytes += frame?.data_ref().map_or(0, Bytes::len);
    }
    if !status.is_success() || load.bytes.is_some_and(|wanted| wanted != bytes) {
        return Err(format!("{} answered {status} with {bytes} bytes", load.target).into());
    }
    Ok(())
}
