//! etcd 3.4 or later, by its JSON gateway: `etcd://[user:password@]host:port[,host:port…]/`,
//! `etcds://` with TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files).
//!
//! - A namespace's keys are below `/flakeid/<namespace>/`: `namespace`, `run` (see below), `row/<node>`,
//!   `used/<node>` (marks that there was a row, in case it is deleted),
//!   `history/<node>/<start>/<grant>` and, of what brokers have granted in a namespace of blocks,
//!   `sub-grants/<node>/<start>/<block's grant>/<grant>`.
//! - A row that was deleted by other means than this library is noticed by the next transaction that
//!   reads its node, also by its holder's: a new row is written only where there is no mark. Then the
//!   store counts as restored.
//! - No key is bound to an etcd lease: a row has its own `expires`, and must outlive it, because its
//!   fence counts for ever.
//! - The store's clock is that of the member that answers, by its `Date` header: the
//!   middle of the second that it names. So the clocks of all members must be right within half a second
//!   with the default `max_skew` of a second.
//! - An incarnation is `cluster / random value`. What distinguishes its run from others is recorded in
//!   the key `run`: the raft term and index, the voting members, and the starts of their processes.
//!   A restored snapshot begins with a new log, which is too short for its revision. Data that are put
//!   back go on in a later term than the recorded one, in new processes.
//! - **Elections**: a later term is that of a new leader, and grants go on, if a majority of the
//!   recorded members still vote, in the same processes. Members are recorded again every 5 s while
//!   there are renewals, so they may be restarted or replaced one by one. A cluster of one or two members,
//!   or one whose majority was restarted meanwhile, counts as restored after an election.
//! - For that a client reads the list of members, and `/metrics` of each, at the addresses in the URL and
//!   at those that the members advertise. Where it cannot reach a majority, each new leader counts as a
//!   restoration. Processes report their start on Linux only.
//! - A transaction is several requests on one connection, and ends with it: behind a proxy that closes
//!   connections after each answer nothing is granted.
//! - Reads and writes are linearizable. Compaction does no harm: only the present is read.
//! - The coldest node is the one with the lowest fence among the 256 candidates that were written
//!   longest ago.
//! - **Not noticed**, besides what [no store notices](super): older values put back while the
//!   cluster runs on, as by `etcdctl put`; older data of any one member put back while the others run
//!   on (remove the member and add a fresh one instead). After these, do as
//!   [after other data that were put back](super). Two clusters, by `--force-new-cluster` while other
//!   members of the old one still run, are two primaries.

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

/// Connects to the first member that answers and knows a leader, else to the first that answers.
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
    // Each of several gets its share of the time.
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
            // It is cut off from the others, or they elect a leader just now.
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

/// Logs in and checks that the member answers, both within the gateway's timeout; afterwards that is
/// the usual one. Returns whether the member knows a leader.
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
        // A proxy of the environment is for the Internet.
        .proxy(None);
    if let Some(tls) = tls {
        config = config.tls_config(tls);
    }
    Agent::with_parts(config.build(), PinnedConnector::new(pin), DefaultResolver::default())
}
