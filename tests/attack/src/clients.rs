//! The clients with tokens, whose requests are measured.

use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};

use crate::grpc::Calls;
use crate::server::{Addresses, WEB, WORKERS};
use crate::wire::Wire;
use crate::{ATTACKERS, Failure, OTHERS};

/// The time between two requests of a client for an ID.
const PAUSE: Duration = Duration::from_millis(20);
/// The time between two leases of a client.
const LEASE_PAUSE: Duration = Duration::from_millis(250);
/// The time after which a request counts as refused.
const PATIENCE: Duration = Duration::from_secs(5);

/// The requests of one kind.
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) waits: Vec<Duration>,
    pub(crate) refused: u64,
    /// The first reason for which a request was refused.
    pub(crate) reason: Option<String>,
}

impl Measured {
    /// Returns the time within which a share of the requests was answered, in milliseconds.
    pub(crate) fn quantile_ms(&self, share: f64) -> f64 {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        let last = waits.len().saturating_sub(1);
        let place = (waits.len() as f64 * share) as usize;
        waits.get(place.min(last)).map_or(f64::NAN, |wait| wait.as_secs_f64() * 1_000.0)
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Http,
    Redis,
    Grpc,
    Streams,
    Leases,
}

/// A client's connection.
enum Client {
    Http(Wire),
    Redis(Wire),
    Grpc(Calls, &'static str),
    Leases(Wire),
}

/// Measures all kinds of requests at the same time, from the attackers' address and from another one.
pub(crate) fn measure(to: Addresses, length: Duration) -> Result<Vec<Measured>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut clients = Vec::new();
        for (from, place) in [(ATTACKERS, "attackers' address"), (OTHERS, "another address")] {
            for (kind, name) in [
                (Kind::Http, "IDs over HTTP"),
                (Kind::Redis, "IDs over the Redis protocol"),
                (Kind::Grpc, "IDs over gRPC"),
                (Kind::Streams, "streams over gRPC"),
                (Kind::Leases, "leases over HTTP"),
            ] {
                let name = format!("{name}, {place}");
                clients.push(tokio::spawn(requests(kind, name, from, to, length)));
            }
        }
        let mut measured = Vec::new();
        for client in clients {
            measured.push(client.await?);
        }
        Ok(measured)
    })
}

async fn requests(
    kind: Kind,
    name: String,
    from: IpAddr,
    to: Addresses,
    length: Duration,
) -> Measured {
    let mut measured = Measured { name, waits: Vec::new(), refused: 0, reason: None };
    let pause = if matches!(kind, Kind::Leases) { LEASE_PAUSE } else { PAUSE };
    let mut ticks = interval(pause);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let began = Instant::now();
    let mut client = None;
    while began.elapsed() < length {
        ticks.tick().await;
        let asked = Instant::now();
        let answered = async {
            if client.is_none() {
                client = Some(Client::open(kind, from, to).await?);
            }
            let client = client.as_mut().ok_or("no connection")?;
            client.ask().await
        };
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(answered)) => measured.waits.push(answered - asked),
            failed => {
                client = None;
                measured.refused += 1;
                let reason = match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => "no response in time".to_owned(),
                };
                measured.reason.get_or_insert(reason);
            }
        }
    }
    measured
}

impl Client {
    async fn open(kind: Kind, from: IpAddr, to: Addresses) -> Result<Self, Failure> {
        Ok(match kind {
            Kind::Http => Self::Http(Wire::open(from, to.http).await?),
            Kind::Leases => Self::Leases(Wire::open(from, to.http).await?),
            Kind::Grpc => Self::Grpc(Calls::open(from, to.grpc).await?, "Next"),
            Kind::Streams => Self::Grpc(Calls::open(from, to.grpc).await?, "Stream"),
            Kind::Redis => {
                let mut wire = Wire::open(from, to.resp).await?;
                accepted(&wire.redis(&format!("AUTH {WEB}")).await?, "+OK")?;
                Self::Redis(wire)
            }
        })
    }

    /// Sends a request, and returns the time of the response.
    async fn ask(&mut self) -> Result<Instant, Failure> {
        match self {
            Self::Http(wire) => {
                let (status, body) = wire.http("POST", "/v1/default/ids", Some(WEB), "").await?;
                accepted(&format!("{status} {}", String::from_utf8_lossy(&body)), "200 ")?;
            }
            Self::Redis(wire) => accepted(&wire.redis("INCR default").await?, ":")?,
            Self::Grpc(calls, method) => accepted(&calls.one(method, WEB).await?, "0")?,
            Self::Leases(wire) => {
                let (status, body) = lease(wire, WORKERS).await?;
                let answered = Instant::now();
                accepted(&format!("{status} {}", String::from_utf8_lossy(&body)), "200 ")?;
                let grant: Value = serde_json::from_slice(&body)?;
                let path = format!("/v1/default/leases/{}", grant["node"]);
                let used = json!({ "token": grant["token"], "used_until": grant["start"] });
                let released = wire.http("DELETE", &path, Some(WORKERS), &used.to_string()).await?;
                accepted(&released.0.to_string(), "204")?;
                return Ok(answered);
            }
        }
        Ok(Instant::now())
    }
}

/// Requests a lease.
pub(crate) async fn lease(wire: &mut Wire, token: &str) -> Result<(u16, Vec<u8>), Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let body = json!({ "now": now as u64 }).to_string();
    Ok(wire.http("POST", "/v1/default/leases", Some(token), &body).await?)
}

fn accepted(reply: &str, wanted: &str) -> Result<(), Failure> {
    if reply.starts_with(wanted) { Ok(()) } else { Err(reply.to_owned().into()) }
}
