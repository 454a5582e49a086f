//! A connection to one server, which is refused if it would forget.

use std::time::{Duration, Instant};

use redis::{
    Client, ClientTlsConfig, Connection, ConnectionInfo, ConnectionLike, IntoConnectionInfo,
    TlsCertificates,
};

use super::super::retry::ANSWER_TIMEOUT;
use super::fault::{fault, not_primary};
use crate::url::file;
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::ServerUrl;

/// The oldest version that replicates what scripts did, and not the scripts.
const OLDEST_MAJOR: u32 = 5;

/// A server that a connection leads to.
pub(super) struct Server {
    pub(super) connection: Connection,
    /// Its URL as texts may show it.
    pub(super) shown: String,
    /// Whether it is a node of a cluster, which has a part of the namespaces only.
    pub(super) is_cluster: bool,
}

/// What is the same for all servers of a URL.
pub(super) struct Access {
    /// As texts may show the URL.
    shown: String,
    /// `None` is no TLS.
    tls: Option<TlsCertificates>,
    /// How many replicas must confirm a write.
    pub(super) replicas: u32,
}

impl Access {
    /// Reads the options.
    pub(super) fn read(url: &ServerUrl<'_>, is_tls: bool) -> Result<Self, Fault> {
        let replicas = match url.option("replicas")?.map(|count| count.parse::<u32>()) {
            None => 0,
            Some(Ok(count @ 0..=16)) => count,
            Some(_) => return Err(url.reject("the option replicas must be 0 to 16")),
        };
        let tls = if is_tls { Some(certificates(url)?) } else { None };
        Ok(Self { shown: url.shown.clone(), tls, replicas })
    }

    /// What the driver makes of the URL of one server.
    pub(super) fn info(&self, address: &str) -> Result<ConnectionInfo, Fault> {
        address.into_connection_info().map_err(|error| fault(&self.shown, &error))
    }

    /// A client of one server.
    pub(super) fn client(&self, info: ConnectionInfo) -> Result<Client, Fault> {
        // Setting the driver's name would be two more answers to wait for.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let info = info.set_redis_settings(settings);
        let client = match &self.tls {
            None => Client::open(info),
            Some(tls) => {
                // The driver panics if rustls cannot tell which cryptography to use; an error only says
                // that one was chosen before.
                let _ = rustls::crypto::ring::default_provider().install_default();
                Client::build_with_tls(info, tls.clone())
            }
        };
        client.map_err(|error| fault(&self.shown, &error))
    }

    /// Connects to a server within `timeout`, and refuses one that would forget.
    pub(super) fn open(
        &self,
        shown: &str,
        client: &Client,
        timeout: Duration,
    ) -> Result<Server, Fault> {
        let mut connection = connect(shown, client, timeout)?;
        let is_cluster = check_server(shown, &mut connection, self.replicas)?;
        set_timeouts(shown, &connection, ANSWER_TIMEOUT)?;
        Ok(Server { connection, shown: shown.to_owned(), is_cluster })
    }
}

/// Connects within `timeout`; the first answers are waited for as long as is left of it.
pub(super) fn connect(
    shown: &str,
    client: &Client,
    timeout: Duration,
) -> Result<Connection, Fault> {
    let start = Instant::now();
    // The driver waits as long for each answer to its greeting (AUTH, SELECT), silent or not.
    let selects = client.get_connection_info().redis_settings().db() != 0;
    let share = timeout / (1 + u32::from(selects));
    let connection =
        client.get_connection_with_timeout(share).map_err(|error| fault(shown, &error))?;
    // None at all would be no limit.
    let left = timeout.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
    set_timeouts(shown, &connection, left)?;
    Ok(connection)
}

/// Sets how long the answers of a server are waited for from now on.
fn set_timeouts(shown: &str, connection: &Connection, timeout: Duration) -> Result<(), Fault> {
    let bounded = connection.set_read_timeout(Some(timeout));
    bounded
        .and_then(|()| connection.set_write_timeout(Some(timeout)))
        .map_err(|error| fault(shown, &error))
}

fn certificates(url: &ServerUrl<'_>) -> Result<TlsCertificates, Fault> {
    let client_tls = match (file(url, "tls-cert")?, file(url, "tls-key")?) {
        (Some(client_cert), Some(client_key)) => Some(ClientTlsConfig { client_cert, client_key }),
        (None, None) => None,
        _ => return Err(url.reject("the options tls-cert and tls-key go together")),
    };
    let root_cert = file(url, "tls-ca")?;
    Ok(TlsCertificates { client_tls, root_cert })
}

/// Refuses replicas, servers that evict keys, old versions, and a primary with so many replicas that
/// `confirming` of them could follow another primary at the same time. Returns whether it is a node of
/// a cluster.
fn check_server(
    shown: &str,
    connection: &mut dyn ConnectionLike,
    confirming: u32,
) -> Result<bool, Fault> {
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
    Ok(get("cluster_enabled") == "1")
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
