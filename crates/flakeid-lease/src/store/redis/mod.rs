//! Redis 5 or later, or Valkey: `redis://[user:password@]host[:port][/database]`, `rediss://` with
//! TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files), `replicas` (see below).
//!
//! - Each namespace is five keys, `flakeid:{namespace}` and the like: one hash slot of a cluster.
//!   No key has a time to live, and a server that evicts keys is refused.
//! - A namespace that is missing is an error: a server that lost everything must not grant.
//! - Each run of the server counts as another store, because Redis may forget the last second. One
//!   that keeps neither an append-only file nor snapshots forgets the namespaces too.
//! - An incarnation is one run of the server on its data: `run_id/master_replid`, compared in the
//!   step that writes. So a failover, on the same connection or behind a proxy that keeps
//!   connections, does not go unnoticed even in the middle of a transaction.
//! - Redis chooses a new `master_replid` for every server that becomes the primary, so one that was
//!   demoted and promoted again without a restart is another store. It also chooses one when the
//!   first replica is attached (or `redis-cli --rdb` connects), and when the last one has been gone
//!   for `repl-backlog-ttl` (an hour unless set; 0 is never). Then, too, nothing is granted for
//!   half a minute with the default bounds: attach the first replica before the fleet starts.
//!
//! # Failover
//! A replica that takes over is another store, so everything granted before is fenced off. But a
//! primary that was cut off from its replicas goes on granting until it learns of the new one, and
//! then both grant the same ticks. With `replicas=n` nothing is granted while fewer than `n`
//! replicas follow, and nothing counts as written until `n` have confirmed it (`WAIT`). Use that
//! wherever there is automatic failover, and choose `n` so that **2`n` is at least the number of
//! all replicas**, those of replicas included: then no two primaries have `n` each. A primary with
//! more replicas than that is refused when a connection to it is made. Replicas that are attached
//! later, or to other replicas, are not seen: count them yourself.
//!
//! `WAIT` counts replicas; it does not fence a primary off. The same ticks can still be granted
//! twice if a replica that has followed the new primary is made to follow the old one again while
//! that one still grants, or if a proxy moves a client's connection to another server between a
//! write and its `WAIT`.
//!
//! # Not noticed
//! So whoever runs the server has to exclude it, besides what [no store notices](super):
//!
//! - two primaries without `replicas`, or with too few (see above), and clients that return to an
//!   old primary that was neither demoted nor stopped while a replica of it was the primary;
//! - older data put back while the server runs on: `RESTORE`, `SWAPDB`, tools that pipe a snapshot
//!   into a running server.

mod fault;
mod keys;
mod store;
mod transaction;

use std::time::{Duration, Instant};

use redis::{
    Client, ClientTlsConfig, Connection, ConnectionLike, IntoConnectionInfo, TlsCertificates,
};

use super::retry::{ANSWER_TIMEOUT, CONNECT_TIMEOUT};
use super::url::ServerUrl;
use super::{Fault, Store};
use fault::{fault, not_primary};
use store::RedisStore;

/// The oldest version that replicates what scripts did, and not the scripts.
const OLDEST_MAJOR: u32 = 5;

/// Connects, and refuses a server that would forget.
pub(super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &["tls-ca", "tls-cert", "tls-key", "replicas"])?;
    let replicas = match url.option("replicas")?.map(|count| count.parse::<u32>()) {
        None => 0,
        Some(Ok(count @ 0..=16)) => count,
        Some(_) => return Err(url.reject("the option replicas must be 0 to 16")),
    };
    let client = client(&url)?;
    let shown = url.shown;
    let start = Instant::now();
    // The driver waits as long for each answer to its greeting (AUTH, SELECT), silent or not.
    let selects = client.get_connection_info().redis_settings().db() != 0;
    let patience = CONNECT_TIMEOUT / (1 + u32::from(selects));
    let mut connection =
        client.get_connection_with_timeout(patience).map_err(|error| fault(&shown, &error))?;
    // The rest of that time; none at all would be no limit.
    let left = CONNECT_TIMEOUT.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
    set_timeouts(&shown, &connection, left)?;
    check_server(&shown, &mut connection, replicas)?;
    set_timeouts(&shown, &connection, ANSWER_TIMEOUT)?;
    Ok(Box::new(RedisStore::new(connection, shown, replicas)))
}

/// Sets how long the answers of a server are waited for from now on.
fn set_timeouts(shown: &str, connection: &Connection, patience: Duration) -> Result<(), Fault> {
    let bounded = connection.set_read_timeout(Some(patience));
    bounded
        .and_then(|()| connection.set_write_timeout(Some(patience)))
        .map_err(|error| fault(shown, &error))
}

fn client(url: &ServerUrl<'_>) -> Result<Client, Fault> {
    let driver_fault = |error| fault(&url.shown, &error);
    let info = url.base.into_connection_info().map_err(driver_fault)?;
    // Setting the driver's name would be two more answers to wait for.
    let settings = info.redis_settings().clone().set_skip_set_lib_name();
    let info = info.set_redis_settings(settings);
    if !url.base.starts_with("rediss:") {
        return Client::open(info).map_err(driver_fault);
    }
    // The driver panics if rustls cannot tell which cryptography to use; an error only says that one
    // was chosen before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client_tls = match (url.file("tls-cert")?, url.file("tls-key")?) {
        (Some(client_cert), Some(client_key)) => Some(ClientTlsConfig { client_cert, client_key }),
        (None, None) => None,
        _ => return Err(url.reject("the options tls-cert and tls-key go together")),
    };
    let root_cert = url.file("tls-ca")?;
    Client::build_with_tls(info, TlsCertificates { client_tls, root_cert }).map_err(driver_fault)
}

/// Refuses replicas, servers that evict keys, old versions, and a primary with so many replicas that
/// `confirming` of them could follow another primary at the same time.
fn check_server(
    shown: &str,
    connection: &mut dyn ConnectionLike,
    confirming: u32,
) -> Result<(), Fault> {
    let info: String =
        redis::cmd("INFO").query(connection).map_err(|error| fault(shown, &error))?;
    let get = |name: &str| {
        let mut lines = info.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default().trim()
    };
    let major = get("redis_version").split('.').next().and_then(|major| major.parse().ok());
    if major.is_none_or(|major: u32| major < OLDEST_MAJOR) {
        return Err(Fault::Rejected(format!(
            "{shown} reports version {:?}: Redis {OLDEST_MAJOR} or later is needed",
            get("redis_version")
        )));
    }
    if get("role") != "master" {
        return Err(not_primary(shown));
    }
    let policy = get("maxmemory_policy");
    if get("maxmemory") != "0" && policy != "noeviction" {
        return Err(Fault::Rejected(format!(
            "{shown} may forget leases when memory is short: its maxmemory-policy is {policy:?} \
             and must be noeviction, or maxmemory 0"
        )));
    }
    let replicas = info.lines().filter(|line| is_replica(line)).count();
    if confirming > 0 && replicas > 2 * confirming as usize {
        return Err(Fault::Rejected(format!(
            "{shown} has {replicas} replicas: with replicas={confirming} two primaries at once could \
             both have their writes confirmed; use replicas={} or more",
            replicas.div_ceil(2)
        )));
    }
    Ok(())
}

/// Whether a line of INFO is about a replica. A client that only copies the data (`redis-cli --rdb`)
/// has no port.
fn is_replica(line: &str) -> bool {
    let Some((number, state)) = line.strip_prefix("slave").and_then(|rest| rest.split_once(':'))
    else {
        return false;
    };
    number.parse::<u32>().is_ok() && !state.contains(",port=0,")
}
