//! The etcd store, for etcd 3.4 or later, through its JSON gateway: `etcd://[user:password@]host:port[,host:port…]/`,
//! `etcds://` with TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files).
//!
//! - A namespace's keys are below `/flakeid/<namespace>/`: `namespace`, `run` (see below), `row/<node>`,
//!   `used/<node>` (a mark that a row existed, in case it is deleted),
//!   `history/<node>/<start>/<grant>` and, for grants of brokers in a namespace of blocks,
//!   `sub-grants/<node>/<start>/<block's grant>/<grant>`.
//! - The next transaction that reads a node, such as its holder's, detects that the node's row was deleted by another
//!   program: a new row is written only if there is no mark. The store then counts as restored.
//! - No key is bound to an etcd lease: a row has its own `expires` value and must outlive that time, because its
//!   fence is valid forever.
//! - The store's clock is the clock of the responding member: the middle of the second in its `Date` header. With the
//!   default `max_skew` of one second, the clocks of all members must therefore be accurate to half a second.
//! - An incarnation is `cluster / random value`. The key `run` records the data that distinguish its run from others: the
//!   raft term and index, the voting members, and the start times of their processes. A restored snapshot begins with a
//!   new log, which is too short for its revision. Restored data continue in a later term than the recorded one, in new
//!   processes.
//! - **Elections**: if a majority of the recorded members still vote, in the same processes, a later term belongs to a new
//!   leader, and grants continue. Members are recorded again every 5 s while there are renewals, so they may be restarted
//!   or replaced one by one. A cluster of one or two members, or a cluster whose majority was restarted in the meantime,
//!   counts as restored after an election.
//! - To distinguish elections from restores, a client reads the list of members and the `/metrics` of each member, at
//!   the addresses in the URL and at the addresses that the members advertise. If it cannot reach a majority, each
//!   new leader counts as a restore. Processes report their start time on Linux only.
//! - A transaction consists of several requests on one connection, and fails if the connection is closed. The store
//!   therefore grants nothing behind a proxy that closes the connection after each response.
//! - Reads and writes are linearizable. Compaction does no harm, because only current data are read.
//! - The coldest node is the node with the lowest fence among the 256 least recently written candidates.
//! - **Not detected**, in addition to the cases that [no store detects](flakeid_protocol::store): older values
//!   restored while the cluster keeps running, as by `etcdctl put`; older data of one member restored while the other
//!   members keep running (remove the member and add a fresh one instead). After such a restore, proceed as
//!   [after any other restored data](flakeid_protocol::store). If `--force-new-cluster` creates a cluster while other
//!   members of the old cluster are still running, the two clusters count as two primaries.

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

/// Connects to the first member that responds and knows a leader. If no such member exists, connects to the first
/// member that responds.
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
            url.reject("the URL does not have the form etcd://user:password@host:port,host:port/")
        );
    }
    let (scheme, tls) = match scheme {
        "etcds" => ("https", Some(tls_config(&url)?)),
        _ => ("http", None),
    };
    let mut faults = Vec::new();
    let mut without_leader = None;
    let places: Vec<String> = hosts.split(',').map(|host| format!("{scheme}://{host}")).collect();
    // The connection timeout is divided equally among the members in the URL.
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
            // A member does not know a leader while it is cut off from the other members, or while the members are
            // electing a leader.
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
        // The proxy in the environment variables is not used, because it is meant for Internet access.
        .proxy(None);
    if let Some(tls) = tls {
        config = config.tls_config(tls);
    }
    Agent::with_parts(config.build(), PinnedConnector::new(pin), DefaultResolver::default())
}
