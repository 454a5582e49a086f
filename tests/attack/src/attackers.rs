//! The attackers, which run in a process of low priority, as if they were on another machine.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::clients::lease;
use crate::grpc::Calls;
use crate::server::{Addresses, LOOP, UNREAD};
use crate::wire::Wire;
use crate::{ATTACKERS, Failure};

/// The interval at which attackers send a group of requests.
const TICK: Duration = Duration::from_millis(10);
/// The number of connections without a token, and their requests per second.
const STRANGERS: u32 = 20;
const STRANGERS_PER_SECOND: u32 = 2_000;
const WRONG_TOKENS_PER_SECOND: u32 = 1_000;
const UNREAD_CONNECTIONS: u32 = 100;
const UNREAD_STREAMS: u32 = 100;
const WRONG: &str = "9999999999999999";

/// The rate of one attack, with the number of each response.
pub(crate) struct Rate {
    pub(crate) name: String,
    pub(crate) intended: u32,
    pub(crate) per_second: f64,
    pub(crate) responses: String,
}

/// A running attack.
pub(crate) struct Attack(Child);

/// Starts the attackers in another process.
pub(crate) fn start(to: Addresses, length: Duration) -> Result<Attack, Failure> {
    let Addresses { http, resp, grpc } = to;
    // More than a thousand wrong tokens wait for their responses at the same time, each on a connection of its own.
    let attackers = Command::new("sh")
        .args(["-c", "ulimit -n $(ulimit -Hn) && exec nice -n 19 \"$@\"", "sh"])
        .arg(std::env::current_exe()?)
        .arg("attack")
        .args([http, resp, grpc].map(|port| port.to_string()))
        .arg(length.as_secs().to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    Ok(Attack(attackers))
}

impl Attack {
    /// Waits until the attackers end, and returns the rates of their attacks.
    pub(crate) fn rates(self) -> Result<Vec<Rate>, Failure> {
        let output = self.0.wait_with_output()?;
        let all: Vec<Value> = serde_json::from_slice(&output.stdout)?;
        let rate = |of: &Value| {
            Some(Rate {
                name: of["name"].as_str()?.to_owned(),
                intended: of["intended"].as_u64()?.try_into().ok()?,
                per_second: of["per_second"].as_f64()?,
                responses: of["responses"].to_string(),
            })
        };
        all.iter().map(rate).collect::<Option<_>>().ok_or_else(|| "no rates".into())
    }
}

/// The responses to one attack.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<BTreeMap<String, u64>>>);

impl Counts {
    fn add(&self, response: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(response).or_default() += 1;
    }

    fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Attacks the server for the given time, and prints the rates as JSON.
pub(crate) fn attack(to: Addresses, length: Duration) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let began = Instant::now();
        let attacks: [(&str, u32, Counts); 6] = [
            ("requests without a token", STRANGERS_PER_SECOND, Counts::default()),
            ("wrong tokens over HTTP", WRONG_TOKENS_PER_SECOND, Counts::default()),
            ("wrong tokens over the Redis protocol", WRONG_TOKENS_PER_SECOND, Counts::default()),
            ("wrong tokens over gRPC", WRONG_TOKENS_PER_SECOND, Counts::default()),
            ("streams that nobody reads", 0, Counts::default()),
            ("leases in a loop", 0, Counts::default()),
        ];
        let [strangers, http, redis, grpc, unread, leases] =
            attacks.each_ref().map(|of| of.2.clone());
        for _ in 0..STRANGERS {
            tokio::spawn(ask_without_token(to, strangers.clone()));
        }
        tokio::spawn(guess(http, move || async move {
            let mut wire = Wire::open(ATTACKERS, to.http).await?;
            let (status, _) = wire.http("POST", "/v1/default/ids", Some(WRONG), "").await?;
            Ok(status.to_string())
        }));
        tokio::spawn(guess(redis, move || async move {
            let mut wire = Wire::open(ATTACKERS, to.resp).await?;
            let reply = wire.redis(&format!("AUTH {WRONG}")).await?;
            Ok(reply.split(' ').next().unwrap_or_default().to_owned())
        }));
        tokio::spawn(guess(grpc, move || async move {
            Calls::open(ATTACKERS, to.grpc).await?.one("Next", WRONG).await
        }));
        for _ in 0..UNREAD_CONNECTIONS {
            tokio::spawn(leave_unread(to, unread.clone()));
        }
        tokio::spawn(lease_forever(to, leases));
        sleep(length).await;
        let seconds = began.elapsed().as_secs_f64();
        let rate = |(name, intended, counts): &(&str, u32, Counts)| {
            let responses = counts.all();
            let per_second = responses.values().sum::<u64>() as f64 / seconds;
            json!({
                "name": name,
                "intended": intended,
                "per_second": per_second,
                "responses": responses,
            })
        };
        let rates: Value = attacks.iter().map(rate).collect();
        println!("{rates}");
        Ok(())
    })
}

/// Sends requests without a token, on one connection that the server may close at any time.
async fn ask_without_token(to: Addresses, counts: Counts) {
    let mut ticks = interval(Duration::from_secs(1) * STRANGERS / STRANGERS_PER_SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut wire = None;
    loop {
        ticks.tick().await;
        if wire.is_none() {
            wire = Wire::open(ATTACKERS, to.http).await.ok();
        }
        let Some(open) = &mut wire else { continue };
        match open.http("POST", "/v1/default/leases", None, "").await {
            Ok((status, _)) => counts.add(status.to_string()),
            Err(_) => wire = None,
        }
    }
}

/// Sends a wrong token on a new connection many times a second.
async fn guess<F>(counts: Counts, attempt: impl Fn() -> F)
where
    F: Future<Output = Result<String, Failure>> + Send + 'static,
{
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        ticks.tick().await;
        for _ in 0..WRONG_TOKENS_PER_SECOND / 100 {
            let (attempt, counts) = (attempt(), counts.clone());
            tokio::spawn(async move {
                counts.add(attempt.await.unwrap_or_else(|_| "closed".to_owned()));
            });
        }
    }
}

/// Keeps calls open on one connection, and reads none of their messages.
async fn leave_unread(to: Addresses, counts: Counts) {
    loop {
        let Ok(calls) = Calls::open(ATTACKERS, to.grpc).await else {
            sleep(TICK).await;
            continue;
        };
        let streams = (0..UNREAD_STREAMS).map(|_| {
            let (mut calls, counts) = (calls.clone(), counts.clone());
            tokio::spawn(async move {
                loop {
                    let Ok(response) = calls.begin("Stream", UNREAD, 100_000).await else { return };
                    counts.add(response.status().to_string());
                    // The server ends a stream that nobody reads, after 10 s.
                    sleep(Duration::from_secs(11)).await;
                    drop(response);
                }
            })
        });
        let streams: Vec<_> = streams.collect();
        for stream in streams {
            drop(stream.await);
        }
    }
}

async fn lease_forever(to: Addresses, counts: Counts) {
    loop {
        let Ok(mut wire) = Wire::open(ATTACKERS, to.http).await else {
            sleep(TICK).await;
            continue;
        };
        while let Ok((status, _)) = lease(&mut wire, LOOP).await {
            counts.add(status.to_string());
        }
    }
}
