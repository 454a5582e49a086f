//! Connections to Redis servers. A server that may lose leases is refused.

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

/// The oldest supported major version of Redis. This version is the first that replicates the effects of scripts
/// instead of the scripts themselves.
const OLDEST_MAJOR: u32 = 5;

/// A connection to a server.
pub(super) struct Server {
    pub(super) connection: Connection,
    /// The server's URL in a form that is safe to show in messages.
    pub(super) shown: String,
    /// Whether the server is a node of a cluster. A cluster node stores only some of the namespaces.
    pub(super) is_cluster: bool,
}

/// The connection settings that apply to all servers in a URL.
pub(super) struct Access {
    /// The URL in a form that is safe to show in messages.
    shown: String,
    /// The certificates for TLS; `None` for connections without TLS.
    tls: Option<TlsCertificates>,
    /// The number of replicas that must confirm a write.
    pub(super) replicas: u32,
}

impl Access {
    /// Reads the connection settings from a URL's options.
    pub(super) fn read(url: &ServerUrl<'_>, is_tls: bool) -> Result<Self, Fault> {
        let replicas = match url.option("replicas")?.map(|count| count.parse::<u32>()) {
            None => 0,
            Some(Ok(count @ 0..=16)) => count,
            Some(_) => return Err(url.reject("the option replicas must be a number from 0 to 16")),
        };
        let tls = if is_tls { Some(certificates(url)?) } else { None };
        Ok(Self { shown: url.shown.clone(), tls, replicas })
    }

    /// Parses the URL of one server with the driver's parser.
    pub(super) fn info(&self, address: &str) -> Result<ConnectionInfo, Fault> {
        address.into_connection_info().map_err(|error| fault(&self.shown, &error))
    }

    /// Creates a client for one server.
    pub(super) fn client(&self, info: ConnectionInfo) -> Result<Client, Fault> {
        // The driver must not send its name to the server, because the client would then have to wait for two more
        // responses.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let info = info.set_redis_settings(settings);
        let client = match &self.tls {
            None => Client::open(info),
            Some(tls) => {
                // The driver panics if rustls has no default cryptography provider. An error here only means that a
                // provider was already set.
                let _ = rustls::crypto::ring::default_provider().install_default();
                Client::build_with_tls(info, tls.clone())
            }
        };
        client.map_err(|error| fault(&self.shown, &error))
    }

    /// Connects to a server within `timeout`, and refuses a server that may lose leases.
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

/// Connects to a server within `timeout`. The time that remains after connecting becomes the timeout for each
/// subsequent response, until the caller sets another timeout.
pub(super) fn connect(
    shown: &str,
    client: &Client,
    timeout: Duration,
) -> Result<Connection, Fault> {
    let start = Instant::now();
    // The driver applies its timeout separately to each response during connection setup (to AUTH and to SELECT). If
    // the setup includes SELECT, the timeout is therefore halved.
    let selects = client.get_connection_info().redis_settings().db() != 0;
    let share = timeout / (1 + u32::from(selects));
    let connection =
        client.get_connection_with_timeout(share).map_err(|error| fault(shown, &error))?;
    // The standard library rejects a timeout of zero.
    let left = timeout.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
    set_timeouts(shown, &connection, left)?;
    Ok(connection)
}

/// Sets the timeout for subsequent responses on a connection.
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
        _ => return Err(url.reject("the options tls-cert and tls-key must be set together")),
    };
    let root_cert = file(url, "tls-ca")?;
    Ok(TlsCertificates { client_tls, root_cert })
}

/// Refuses replicas, old versions, servers that evict keys, and primaries with too many replicas. A write must be
/// confirmed by `confirming` replicas. If there were more than `2 * confirming` replicas, the writes of two primaries
/// could be confirmed at the same time. Returns whether the server is a node of a cluster.
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
            "{shown} reports version {:?}: Redis {OLDEST_MAJOR} or later is required",
            get("redis_version")
        )));
    }
    if get("role") != "master" {
        return Err(not_primary(shown));
    }
    let policy = get("maxmemory_policy");
    if get("maxmemory") != "0" && policy != "noeviction" {
        return Err(Fault::Rejected(format!(
            "{shown} may lose leases when its memory is full, because its maxmemory-policy is \
             {policy:?}: set it to noeviction, or maxmemory to 0"
        )));
    }
    let replicas = info.lines().filter(|line| is_replica(line)).count();
    if confirming > 0 && replicas > 2 * confirming as usize {
        return Err(Fault::Rejected(format!(
            "{shown} has {replicas} replicas, so that with replicas={confirming} the writes of two \
             primaries could be confirmed at the same time: use replicas={} or more",
            replicas.div_ceil(2)
        )));
    }
    Ok(get("cluster_enabled") == "1")
}

/// Whether a line of the INFO response describes a replica. A client that only copies the data (`redis-cli --rdb`)
/// reports port 0 and does not count as a replica.
fn is_replica(line: &str) -> bool {
    let Some((number, state)) = line.strip_prefix("slave").and_then(|rest| rest.split_once(':'))
    else {
        return false;
    };
    number.parse::<u32>().is_ok() && !state.contains(",port=0,")
}
