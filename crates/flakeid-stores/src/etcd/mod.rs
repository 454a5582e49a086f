//! The etcd store, for etcd 3.4 or later, through its JSON gateway: `etcd://[user:password@]host:port[,host:port…]/`,
//! `etcds://` with TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files).
//!
//! - A namespace's keys are below `/flakeid/<namespace>/`: `namespace`, `run` (see below), `row/<node>`,
//!   `used/<node>` (a mark that a row existed, in case it is deleted),
//!   `history/<node>/<start>/<grant>` and, for grants of brokers in a namespace of blocks,
//!   `sub-grants/<node>/<start>/<block's grant>/<grant>`.
//! - A row that was deleted without this library is detected by the next transaction that reads its node, including its
//!   holder's: a new row is written only if there is no mark. The store then counts as restored.
//! - No key is bound to an etcd lease: a row has its own `expires` and must outlive it, because its fence is valid forever.
//! - The store's clock is the clock of the responding member: the middle of the second in its `Date` header. So with the
//!   default `max_skew` of a second, the clocks of all members must be right within half a second.
//! - An incarnation is `cluster / random value`. The key `run` records the data that distinguish its run from others: the
//!   raft term and index, the voting members, and the start times of their processes. A restored snapshot begins with a
//!   new log, which is too short for its revision. Restored data continue in a later term than the recorded one, in new
//!   processes.
//! - **Elections**: if a majority of the recorded members still vote, in the same processes, a later term belongs to a new
//!   leader, and grants continue. Members are recorded again every 5 s while there are renewals, so they may be restarted
//!   or replaced one by one. A cluster of one or two members, or a cluster whose majority was restarted in the meantime,
//!   counts as restored after an election.
//! - To distinguish elections, a client reads the list of members, and `/metrics` of each, at the addresses in the URL and
//!   at those that the members advertise. If it cannot reach a majority, each new leader counts as a restore. Processes
//!   report their start time on Linux only.
//! - A transaction consists of several requests on one connection and ends with it. So the store grants nothing behind a
//!   proxy that closes connections after each response.
//! - Reads and writes are linearizable. Compaction does no harm, because only current data are read.
//! - The coldest node is the node with the lowest fence among the 256 least recently written candidates.
//! - **Not detected**, besides the cases that [no store detects](super): older values restored while the cluster keeps
//!   running, as by `etcdctl put`; older data of one member restored while the others keep running (remove the member and
//!   add a fresh one instead). After these, do as [after other restored data](super). Two clusters, created by
//!   `--force-new-cluster` while other members of the old cluster still run, are two primaries.

mod commit;
mod gateway;
mod keys;
mod members;
mod run;
mod store;
mod transaction;

use std::time::Instant;

use serde_json::json;
use ureq::Agent;
use ureq::tls::TlsConfig;
use ureq::unversioned::resolver::DefaultResolver;

use super::certificates::tls_config;
use crate::retry::ANSWER_TIMEOUT;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Store};
use flakeid_protocol::url::ServerUrl;
use gateway::{ConnectionPin, Gateway, PinnedConnector};
use keys::number;
use store::EtcdStore;

/// Connects to the first member that responds and knows a leader, or otherwise to the first that responds.
pub(super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &["tls-ca", "tls-cert", "tls-key"])?;
    let (scheme, rest) = url.base.split_once("://").unwrap_or_default();
    let (user, hosts) = match rest.rsplit_once('@') {
        None => (None, rest),
        Some((user, hosts)) => {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            (Some((url.decode("user", name)?, url.decode("password", password)?)), hosts)
        }
    };
    let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
    if hosts.is_empty() || hosts.contains(['/', '#']) {
        return Err(
            url.reject("the URL is not of the form etcd://user:password@host:port,host:port/")
        );
    }
    let (scheme, tls) = match scheme {
        "etcds" => ("https", Some(tls_config(&url)?)),
        _ => ("http", None),
    };
    let mut faults = Vec::new();
    let mut without_leader = None;
    let places: Vec<String> = hosts.split(',').map(|host| format!("{scheme}://{host}")).collect();
    // Several members share the time limit equally.
    let timeout = CONNECT_TIMEOUT / u32::try_from(places.len()).unwrap_or(u32::MAX);
    let reporter = agent(tls.clone(), ConnectionPin::default());
    for base in places.clone() {
        let (pin, user) = (ConnectionPin::default(), user.clone());
        let (agent, reporter) = (agent(tls.clone(), pin.clone()), reporter.clone());
        let places = places.clone();
        let mut gateway =
            Gateway { agent, pin, places, reporter, timeout, base, user, token: None };
        match log_in(&mut gateway) {
            Ok(true) => return Ok(Box::new(EtcdStore::new(gateway))),
            // The member is cut off from the others, or they are electing a leader.
            Ok(false) => without_leader = without_leader.or(Some(gateway)),
            Err(Fault::Unavailable(text)) => faults.push(text),
            Err(fault) => return Err(fault),
        }
    }
    match without_leader {
        Some(gateway) => Ok(Box::new(EtcdStore::new(gateway))),
        None => Err(Fault::Unavailable(faults.join("; "))),
    }
}

/// Logs in and checks that the member responds, both within the gateway's timeout, and then sets the default timeout.
/// Returns whether the member knows a leader.
fn log_in(gateway: &mut Gateway) -> Result<bool, Fault> {
    let start = Instant::now();
    gateway.authenticate()?;
    gateway.timeout = gateway.timeout.saturating_sub(start.elapsed());
    let status = gateway.call("/v3/maintenance/status", &json!({}))?;
    gateway.timeout = ANSWER_TIMEOUT;
    Ok(number::<u64>(&status.body["leader"])? != 0)
}

fn agent(tls: Option<TlsConfig>, pin: ConnectionPin) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        // The environment's proxy is meant for the Internet.
        .proxy(None);
    if let Some(tls) = tls {
        config = config.tls_config(tls);
    }
    Agent::with_parts(config.build(), PinnedConnector::new(pin), DefaultResolver::default())
}
