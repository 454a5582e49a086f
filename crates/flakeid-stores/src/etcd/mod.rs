//! The etcd store, which uses the JSON gateway of etcd 3.4 or later. The URL is
//! `etcd://[user:password@]host:port[,host:port…]/`, or `etcds://…` for a connection with TLS. The options are
//! `tls-ca`, `tls-cert` and `tls-key` (PEM files).
//!
//! - The keys of a namespace begin with `/flakeid/<namespace>/`. The next part is `namespace`, `run` (see below),
//!   `row/<node>`, `used/<node>`, `history/<node>/<start>/<grant>` or
//!   `sub-grants/<node>/<start>/<block's grant>/<grant>`. The key `used/<node>` is a mark that remains if the row is
//!   deleted. Keys with `sub-grants` contain the grants made by brokers, and exist only in a namespace of blocks.
//! - If another program deletes a row, the next transaction that reads the row's node (such as a renewal) finds a mark
//!   without a row. The store then counts as restored. New rows are written only for nodes without marks, so that no
//!   deletion is hidden.
//! - No key is attached to an etcd lease. A row contains its own expiry time, `expires`, but must remain after that
//!   time, because the row's fence is valid forever.
//! - The store's clock is the clock of the member that responds: flakeid uses the middle of the second in the
//!   response's `Date` header. With the default `max_skew` of one second, the clocks of all members must therefore be
//!   accurate to half a second.
//! - An incarnation is `cluster ID / random value`. The key `run` contains the data that distinguishes the
//!   incarnation's run from other runs. This data is the raft term and index, the voting members, and the start times
//!   of their processes. A restored snapshot begins with a new log, which is too short for the snapshot's revision. A
//!   restored copy of all members' data continues in a later term than the recorded term, in new processes.
//! - **Elections**: a later term belongs to a new leader if a majority of the recorded members still vote, in the same
//!   processes. In this case, grants continue. While there are renewals, the members are recorded again every 5 s, so
//!   they may be restarted or replaced one by one. After an election, a cluster with a single member counts as
//!   restored. Any other cluster counts as restored if at least half of the recorded members were restarted or
//!   replaced.
//! - To distinguish elections from restores, a client reads the list of members and the `/metrics` of each member. The
//!   client uses the addresses in the URL and the addresses that the members advertise. If the client cannot reach a
//!   majority of the members, each election counts as a restore. Members report the start times of their processes on
//!   Linux only.
//! - A transaction consists of several requests on one connection, and fails if the connection is closed. If a proxy
//!   closes the connection after each response, the store therefore grants nothing.
//! - Reads and writes are linearizable. Compaction is harmless, because flakeid reads only current data.
//! - To find the coldest node, flakeid compares the fences of the candidates in the 256 least recently written rows. If
//!   these rows contain too few candidates, flakeid reads more rows.
//! - **Not detected**, in addition to the cases that [no store detects](flakeid_protocol::store): older values that are
//!   written back while the cluster keeps running, for example with `etcdctl put`. A restore of one member's older data
//!   is not detected either if the other members keep running: remove the member and add a new one instead. After a
//!   restore that was not detected, proceed as [after any other restored data](flakeid_protocol::store). If
//!   `--force-new-cluster` creates a cluster while other members of the old cluster are still running, the two clusters
//!   count as two primaries.

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
use crate::backend::{Backend, Connect};
use crate::retry::ANSWER_TIMEOUT;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Store};
use flakeid_protocol::url::ServerUrl;
use gateway::{ConnectionPin, Gateway, PinnedConnector};
use keys::number;
use store::EtcdStore;

pub(super) static BACKEND: Backend = Backend {
    forms: &["etcd://"],
    connect: Connect::Store(|place| connect(place.url)),
    file: None,
    documents: None,
};

/// Connects to the first member in the URL that responds and reports a leader. If no member reports a leader, connects
/// to the first member that responds.
fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
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
            // A member has no leader while it is cut off from the other members, or while the members are electing a
            // leader.
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

/// Logs in and checks that the member responds. Both steps together must finish within the gateway's current timeout.
/// Then sets the default timeout for responses. Returns whether the member reports a leader.
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
        // The proxy that environment variables specify is not used, because it is meant for Internet access.
        .proxy(None);
    if let Some(tls) = tls {
        config = config.tls_config(tls);
    }
    Agent::with_parts(config.build(), PinnedConnector::new(pin), DefaultResolver::default())
}
