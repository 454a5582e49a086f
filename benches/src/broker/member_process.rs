//! The process of the members: each keeps one connection, leases a node and renews it.

use std::error::Error;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Args;
use flakeid_core::Layout;
use flakeid_protocol::Grant;
use flakeid_protocol::http::{AcquireJson, AnswerJson, HttpAnswer, RenewJson};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use super::hosted::layout;
use super::members::{Joined, Renewed};
use super::requests::{follow, renewal, request};
use crate::histogram::Histogram;

type Failed = Box<dyn Error + Send + Sync>;

/// Time for which a member waits for a node while all others request one too; after it, the timeout of a response
/// and the interval between two requests for a node.
const JOIN_TIMEOUT: Duration = Duration::from_secs(30);
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 5;

/// Options of the process.
#[derive(Args)]
pub(crate) struct Options {
    /// Address of the broker
    #[arg(long)]
    address: SocketAddr,
    /// Namespace of the nodes
    #[arg(long)]
    namespace: String,
    /// Number of members
    #[arg(long)]
    members: usize,
    /// Interval between two renewals of one member, in milliseconds; 0 renews as soon as a response arrives
    #[arg(long)]
    interval_ms: u64,
}

/// Counters shared by all members.
#[derive(Default)]
struct Counts {
    failed: u64,
    why: String,
}

/// Prints a line when all members have a node. Ends the members when standard input is closed, and prints another
/// line.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let (end, ended) = watch::channel(false);
    std::thread::spawn(move || {
        // An error ends the members like end of input. If no receiver is left, they have ended already.
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        end.send_replace(true);
    });
    runtime.block_on(run_all(options, ended))
}

async fn run_all(options: &Options, ended: watch::Receiver<bool>) -> Result<(), Box<dyn Error>> {
    let layout = layout()?;
    let began = Instant::now();
    let (joining, mut joined) = mpsc::unbounded_channel();
    let calls = Arc::new(Mutex::new(Histogram::new()));
    let counts = Arc::new(Mutex::new(Counts::default()));
    let interval = Duration::from_millis(options.interval_ms);
    let mut members = Vec::new();
    for number in 0..options.members {
        let (joining, mut ended) = (joining.clone(), ended.clone());
        let (calls, counts) = (Arc::clone(&calls), Arc::clone(&counts));
        let (address, namespace) = (options.address, options.namespace.clone());
        // Members start evenly spread over the interval, and their intervals differ slightly.
        let share = number as f64 / options.members as f64;
        let interval = interval.mul_f64(0.9 + 0.2 * share);
        members.push(tokio::spawn(async move {
            let member = join(address, namespace, layout).await;
            let (member, joined) = match member {
                Ok(member) => (Some(member), Ok(())),
                Err(error) => (None, Err(error.to_string())),
            };
            drop(joining.send(joined));
            let Some(mut member) = member else { return };
            let renew = async {
                sleep(interval.mul_f64(share)).await;
                loop {
                    let sent = Instant::now();
                    match timeout(RENEWAL_TIMEOUT, member.renew()).await {
                        Ok(Ok(())) => lock(&calls).record(sent.elapsed()),
                        Ok(Err(error)) => note(&counts, &error.to_string()),
                        Err(_) => note(&counts, "no response in time"),
                    }
                    if !interval.is_zero() {
                        sleep(interval.saturating_sub(sent.elapsed())).await;
                    }
                }
            };
            tokio::select! {
                () = renew => {}
                _ = ended.wait_for(|ended| *ended) => {}
            }
        }));
    }
    let mut outcome = Joined::default();
    for _ in 0..options.members {
        match joined.recv().await.ok_or("a member ended without a result")? {
            Ok(()) => outcome.granted += 1,
            Err(why) if outcome.failed == 0 => (outcome.failed, outcome.why) = (1, why),
            Err(_) => outcome.failed += 1,
        }
    }
    outcome.took_ms = began.elapsed().as_secs_f64() * 1e3;
    println!("{}", serde_json::to_string(&outcome)?);
    // Only renewals from here on are counted.
    *lock(&calls) = Histogram::new();
    let began = Instant::now();
    for member in members {
        member.await?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let (calls, counts) = (lock(&calls), lock(&counts));
    let percentile =
        |share| calls.percentile(share).map_or(0.0, |took: Duration| took.as_secs_f64() * 1e6);
    let outcome = Renewed {
        renewals: calls.count(),
        failed: counts.failed,
        seconds,
        p50: percentile(0.5),
        p99: percentile(0.99),
        why: counts.why.clone(),
    };
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(counts: &Mutex<Counts>, why: &str) {
    let mut counts = lock(counts);
    counts.failed += 1;
    if counts.why.is_empty() {
        why.clone_into(&mut counts.why);
    }
}

/// A connection and a node.
struct Member {
    sender: SendRequest<Full<Bytes>>,
    path: String,
    layout: Layout,
    broker: String,
    grant: Grant,
}

/// Connects and leases a node, and repeats both until its timeout, as a client would.
async fn join(address: SocketAddr, namespace: String, layout: Layout) -> Result<Member, Failed> {
    let mut failed: Failed = "never asked".into();
    for _ in 0..ATTEMPTS {
        let attempt = timeout(JOIN_TIMEOUT, lease(address, &namespace, layout));
        match attempt.await.unwrap_or_else(|_| Err("no node in time".into())) {
            Ok(member) => return Ok(member),
            Err(error) => failed = error,
        }
        sleep(Duration::from_millis(200)).await;
    }
    Err(failed)
}

async fn lease(address: SocketAddr, namespace: &str, layout: Layout) -> Result<Member, Failed> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let path = format!("/v1/{namespace}/leases");
    let request = request(layout);
    let body = AcquireJson::new(&request, 0);
    let granted = ask(&mut sender, &Method::POST, &path, &body).await?;
    let (layout, broker) = granted.layout_and_broker()?;
    let grant = granted.to_grant(&request, &layout)?;
    let path = format!("{path}/{}", grant.node);
    Ok(Member { sender, path, layout, broker, grant })
}

impl Member {
    async fn renew(&mut self) -> Result<(), Failed> {
        let renew = renewal(&self.layout, &self.grant)?;
        let body = RenewJson::new(&renew, 0, &self.broker);
        let renewed = ask(&mut self.sender, &Method::PATCH, &self.path, &body).await?;
        follow(&mut self.grant, &renew, renewed.to_renewed(&renew)?);
        Ok(())
    }
}

/// Sends one request and returns its response.
async fn ask(
    sender: &mut SendRequest<Full<Bytes>>,
    method: &Method,
    path: &str,
    body: &impl Serialize,
) -> Result<AnswerJson, Failed> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "localhost")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(serde_json::to_vec(body)?)))?;
    sender.ready().await?;
    let answer = sender.send_request(request).await?;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await?.to_bytes();
    let answer = HttpAnswer::new(status, body.to_vec());
    AnswerJson::read("the broker", &answer)
        .map_err(|failure| format!("{:?}", failure.into_fault()).into())
}
