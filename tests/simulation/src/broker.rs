//! A simulated broker: the product's blocks and the keeper of each block, and the state of the broker's thread.

use std::collections::VecDeque;

use flakeid_core::{Error, ErrorKind, Layout};
use flakeid_protocol::broker::{Blocks, Denial};
use flakeid_protocol::http::{
    AcquireJson, GrantJson, HttpAnswer, ReleaseJson, RenewJson, RenewedJson,
};
use flakeid_protocol::keeper::{Demand, Keeper, KeeperOptions};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{
    Acquire, Grant, Handover, HeldNode, Namespace, Owner, Refusal, Renew, Renewed, Token,
};
use serde_json::json;

use crate::config::{BROKER_TTL_MS, BROKER_WINDOW_MS, NAMESPACE};

/// A block with its keeper.
#[derive(Debug)]
pub struct BlockHolder {
    pub keeper: Keeper,
    pub block: Option<u64>,
    /// The time at which the latest successful request was sent.
    pub confirmed: u64,
    /// The grants to hand over to the store's history when the block is released.
    pub last: Handover,
}

impl BlockHolder {
    pub fn hold(&self) -> Option<&HeldNode> {
        self.keeper.holders.first()?.hold.as_ref()
    }
}

/// The state of a broker's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Open,
    /// The broker renews leases, but grants no further nodes. It ends at the given time.
    Draining {
        began: u64,
        ends: u64,
    },
    /// The broker's thread releases the blocks.
    Closing,
    /// No process runs.
    Down,
}

/// The position of a broker's thread in its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Asleep,
    Renew(usize),
    /// The thread leases the given number of further blocks. `begun` if a request was sent.
    Lease {
        left: usize,
        begun: bool,
    },
    Release,
    Close(usize),
}

/// A request to the store that the broker's thread waits for.
#[derive(Debug)]
pub struct StoreRequest {
    pub index: usize,
    pub demand: Demand,
    pub handover: Handover,
    /// The time at which the request was sent, and the reading of the broker's clock.
    pub sent: u64,
    pub read: u64,
}

/// A client's request for a node that waits for another block.
#[derive(Debug)]
pub struct Waiter {
    pub message: u32,
    pub request: Acquire,
    pub arrived: u64,
    /// The number of the thread's attempts when the request began to wait.
    pub seen: u64,
}

pub struct Broker {
    pub address: String,
    pub phase: Phase,
    /// Whether the process is stopped (`SIGSTOP`).
    pub is_paused: bool,
    /// The number of processes so far. Events of an earlier process have no effect.
    pub process: u32,
    /// The difference between the broker's clock and the true time, in milliseconds.
    pub clock: i64,
    pub namespace: Namespace,
    pub options: KeeperOptions,
    pub blocks: Blocks,
    pub holders: Vec<BlockHolder>,
    /// The blocks that the thread renews in its current pass.
    pub renewing: Vec<usize>,
    /// The random factor of the margin with which the next renewals are due.
    pub jitter: f64,
    pub stage: Step,
    /// The result of the thread's current pass.
    pub outcome: Result<(), Fault>,
    /// The demands of keepers that the thread has not sent yet.
    pub demands: VecDeque<(usize, Demand, u64)>,
    pub asked: Option<StoreRequest>,
    /// The number of requests to the store, which identifies the response that the thread waits for.
    pub requests: u32,
    pub wake: u32,
    /// The earliest time of the next pass, because of failures.
    pub rests_until: u64,
    pub failures: u32,
    pub failure: Option<Fault>,
    pub attempts: u64,
    pub waiters: Vec<Waiter>,
    /// Requests that arrived while the process was stopped.
    pub inbox: Vec<u32>,
    /// The time since which the broker can serve; `None` while it cannot.
    pub good_since: Option<u64>,
}

impl Broker {
    pub fn new(number: usize, namespace: &Namespace) -> Self {
        let address = format!("http://b{number}:7117");
        let mut broker = Self {
            options: keeper_options(&address, namespace, 0),
            address,
            phase: Phase::Open,
            is_paused: false,
            process: 0,
            clock: 0,
            blocks: blocks(namespace),
            namespace: namespace.clone(),
            holders: Vec::new(),
            renewing: Vec::new(),
            jitter: 1.0,
            stage: Step::Asleep,
            outcome: Ok(()),
            demands: VecDeque::new(),
            asked: None,
            requests: 0,
            wake: 0,
            rests_until: 0,
            failures: 0,
            failure: None,
            attempts: 0,
            waiters: Vec::new(),
            inbox: Vec::new(),
            good_since: None,
        };
        broker.start();
        broker
    }

    /// Starts a new process, which has nothing in its memory.
    pub fn start(&mut self) {
        self.stop();
        self.phase = Phase::Open;
        self.options = keeper_options(&self.address, &self.namespace, self.process);
    }

    /// Ends the process, as a kill does.
    pub fn stop(&mut self) {
        self.phase = Phase::Down;
        self.is_paused = false;
        self.process += 1;
        self.wake += 1;
        self.requests += 1;
        self.blocks = blocks(&self.namespace);
        self.holders.clear();
        self.demands.clear();
        self.waiters.clear();
        self.inbox.clear();
        self.asked = None;
        self.stage = Step::Asleep;
        self.outcome = Ok(());
        (self.rests_until, self.failures, self.failure, self.attempts) = (0, 0, None, 0);
    }

    pub fn runs(&self) -> bool {
        self.phase != Phase::Down && !self.is_paused
    }

    pub fn layout(&self) -> &Layout {
        &self.namespace.layout
    }

    /// Raises the fence of a node; `clock` is the reading of the broker's clock. Returns `None` if the broker does not
    /// hold the block.
    pub fn renew(
        &mut self,
        request: &Renew,
        now: u64,
        clock: i64,
    ) -> Result<Option<Renewed>, Fault> {
        match self.blocks.renew(request, clock) {
            Ok(renewed) => {
                let leaving = match self.phase {
                    Phase::Draining { began, ends } => {
                        moves(request.node, now - began, ends - began)
                    }
                    _ => false,
                };
                Ok(Some(Renewed { leaving, ..renewed }))
            }
            Err(Denial::NotHeld) => Ok(None),
            Err(Denial::Refused(refusal)) => Err(refusal.into()),
            Err(Denial::BlockFence | Denial::NoRoom) => Err(self.block_fence_reached()),
        }
    }

    /// Grants a node. Returns `None` if the broker needs another block first.
    pub fn acquire(
        &mut self,
        request: Acquire,
        clock: i64,
        seen: Option<u64>,
    ) -> Result<Option<Grant>, Fault> {
        if self.phase != Phase::Open {
            return Err(Fault::Unavailable("this broker is shutting down".into()));
        }
        match self.blocks.acquire_owned(request, clock) {
            Ok(grant) => Ok(Some(grant)),
            Err(Denial::Refused(refusal)) => Err(refusal.into()),
            Err(Denial::BlockFence | Denial::NotHeld) => Err(self.block_fence_reached()),
            Err(Denial::NoRoom) => match &self.failure {
                Some(failure) if seen.is_some_and(|seen| self.attempts > seen) => {
                    Err(failure.clone())
                }
                _ => Ok(None),
            },
        }
    }

    fn block_fence_reached(&self) -> Fault {
        let why = self.failure.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
        Fault::Unavailable(format!("the lease on the block has not been renewed yet{why}"))
    }

    /// Returns the fault for a request that has waited too long for a block.
    pub fn no_block_yet(&self) -> Fault {
        let fault = || Fault::Unavailable("the store did not grant another block in time".into());
        self.failure.clone().unwrap_or_else(fault)
    }

    /// Parses the request for a node.
    pub fn parse_acquire(&self, body: &[u8], fresh: Token) -> Result<Acquire, Error> {
        let body: AcquireJson = parse(body)?;
        body.to_request(self.layout(), fresh)
    }

    pub fn answer_grant(&self, granted: Result<Grant, Fault>) -> HttpAnswer {
        match granted {
            Ok(grant) => {
                let json = GrantJson::new(&grant, &self.address, self.layout());
                HttpAnswer::new(200, serde_json::to_vec(&json).unwrap())
            }
            Err(fault) => self.refuse(&fault),
        }
    }

    pub fn answer_renewal(&mut self, node: u64, body: &[u8], now: u64, clock: i64) -> HttpAnswer {
        let parsed =
            parse::<RenewJson>(body).and_then(|json| Ok((json.to_request(node)?, json.broker)));
        let (request, granter) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => return refusal(400, &error, None),
        };
        match self.renew(&request, now, clock) {
            Ok(Some(renewed)) => {
                HttpAnswer::new(200, serde_json::to_vec(&RenewedJson::from(renewed)).unwrap())
            }
            Ok(None) if granter == self.address => self.refuse(&Refusal::FencedOff.into()),
            Ok(None) => {
                let error =
                    json!({"code": "HTTP_MISDIRECTED", "message": "another broker granted it"});
                HttpAnswer::new(421, json!({ "error": error }).to_string().into_bytes())
            }
            Err(fault) => self.refuse(&fault),
        }
    }

    pub fn answer_release(&mut self, node: u64, body: &[u8], clock: i64) -> HttpAnswer {
        match parse::<ReleaseJson>(body).and_then(|json| json.to_request(node)) {
            Ok(request) => {
                self.blocks.release(&request, clock);
                HttpAnswer::new(204, Vec::new())
            }
            Err(error) => refusal(400, &error, None),
        }
    }

    /// Returns the server's response to a request that was not granted.
    pub fn refuse(&self, fault: &Fault) -> HttpAnswer {
        let (status, name) = match fault {
            Fault::Refused(Refusal::FencedOff) => (409, Some("fenced-off")),
            Fault::Refused(Refusal::Restored { .. }) => (503, Some("restored")),
            Fault::Refused(Refusal::Skew { .. } | Refusal::TooFarAhead { .. }) => (409, None),
            _ => (503, None),
        };
        let error = fault.to_error("the broker", NAMESPACE, self.layout());
        let status = match error.kind() {
            ErrorKind::FieldOutOfRange | ErrorKind::InvalidOption => 400,
            _ => status,
        };
        refusal(status, &error, name)
    }
}

/// Returns the options of the keepers of a broker's blocks, as the product sets them.
fn keeper_options(address: &str, namespace: &Namespace, process: u32) -> KeeperOptions {
    let (name, window_ms) = (address.to_owned(), namespace.bounds.max_window_ms);
    let acquire = Acquire {
        block_bits: namespace.block_bits,
        identity: flakeid_protocol::Identity::Name(name.clone()),
        to: namespace.max_row(),
        window_ms,
        ttl_ms: window_ms + namespace.bounds.max_skew_ms,
        owner: Owner { host: name.clone(), name, pid: process },
        ..Acquire::any_node(namespace.layout, Token::from_bits(0), 0)
    };
    KeeperOptions { nodes: 1, acquire, moves: false }
}

fn blocks(namespace: &Namespace) -> Blocks {
    Blocks::new(namespace, BROKER_WINDOW_MS, BROKER_TTL_MS).recorded()
}

/// Whether it is time for the holder of a node to move to another broker, computed as in the product.
fn moves(node: u64, passed: u64, length: u64) -> bool {
    let place = (node as u32).wrapping_mul(0x9E37_79B9);
    let share = f64::from(place) / (f64::from(u32::MAX) + 1.0);
    passed as f64 >= length as f64 * share / 2.0
}

fn parse<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|error| Error::invalid_option("body", &error.to_string()))
}

fn refusal(status: u16, error: &Error, refusal: Option<&str>) -> HttpAnswer {
    let retry_after = error.retry_after().filter(|_| error.kind().is_retryable());
    let detail = json!({
        "code": error.code(),
        "message": error.to_string(),
        "retry_after_ms": retry_after.map(|wait| wait.as_millis() as u64),
        "refusal": refusal,
    });
    HttpAnswer::new(status, json!({ "error": detail }).to_string().into_bytes())
}
