use std::time::{Duration, Instant};

use redis::{
    Client, ClientTlsConfig, Connection, ConnectionLike, ErrorKind, IntoConnectionInfo, RedisError,
    TlsCertificates,
};

use super::super::location::{ANSWER_TIMEOUT, CONNECT_TIMEOUT};
use super::super::optimistic::{Options, shown, transact};
use super::super::{Fault, Ledger, Store};
use super::keys::Keys;
use super::shelf::{Scripts, Server};
use crate::protocol::Namespace;

/// The oldest version that replicates what scripts did, and not the scripts.
const OLDEST_MAJOR: u32 = 5;

/// How long replicas may take to confirm a write.
const REPLICA_TIMEOUT: Duration = Duration::from_millis(1500);

/// Connects, and refuses a server that would forget.
pub(in super::super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let options = Options::of(url, &["tls-ca", "tls-cert", "tls-key", "replicas"])?;
    let replicas = match options.get("replicas").map(str::parse::<u32>) {
        None => 0,
        Some(Ok(count @ 0..=16)) => count,
        Some(_) => {
            return Err(Fault::Rejected("the store's option replicas must be 0 to 16".into()));
        }
    };
    let place = shown(url);
    let client = client(&options).map_err(|error| fault(&place, &error))?;
    let start = Instant::now();
    // The driver waits as long for each answer to its greeting (AUTH, SELECT), silent or not.
    let selects = client.get_connection_info().redis_settings().db() != 0;
    let patience = CONNECT_TIMEOUT / (1 + u32::from(selects));
    let mut connection =
        client.get_connection_with_timeout(patience).map_err(|error| fault(&place, &error))?;
    // The rest of that time; none at all would be no limit.
    let left = CONNECT_TIMEOUT.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
    bound(&place, &connection, left)?;
    examine(&place, &mut connection, replicas)?;
    bound(&place, &connection, ANSWER_TIMEOUT)?;
    Ok(Box::new(Server {
        connection,
        place,
        run: String::new(),
        replicas,
        changes: String::new(),
        scripts: Scripts::new(),
    }))
}

/// Bounds the waits for a server from now on.
fn bound(place: &str, connection: &Connection, patience: Duration) -> Result<(), Fault> {
    let bounded = connection.set_read_timeout(Some(patience));
    bounded
        .and_then(|()| connection.set_write_timeout(Some(patience)))
        .map_err(|error| fault(place, &error))
}

fn client(options: &Options) -> Result<Client, RedisError> {
    let info = options.bare.as_str().into_connection_info()?;
    // The driver's name would be two more answers to wait for.
    let settings = info.redis_settings().clone().set_skip_set_lib_name();
    let info = info.set_redis_settings(settings);
    if !options.bare.starts_with("rediss:") {
        return Client::open(info);
    }
    // The driver panics if rustls cannot tell which one to use; it is an error only if there is
    // one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unreadable =
        |fault: Fault| RedisError::from((ErrorKind::InvalidClientConfig, "TLS", fault.to_string()));
    let file = |name| options.file(name).map_err(unreadable);
    let client_tls = match (file("tls-cert")?, file("tls-key")?) {
        (Some(client_cert), Some(client_key)) => Some(ClientTlsConfig { client_cert, client_key }),
        (None, None) => None,
        _ => {
            let text = "tls-cert and tls-key go together";
            return Err((ErrorKind::InvalidClientConfig, text).into());
        }
    };
    let root_cert = file("tls-ca")?;
    Client::build_with_tls(info, TlsCertificates { client_tls, root_cert })
}

/// Refuses replicas, servers that evict keys, old versions, and more replicas than a number of them
/// that must confirm a write can tell two primaries by.
fn examine(place: &str, connection: &mut dyn ConnectionLike, confirming: u32) -> Result<(), Fault> {
    let info: String =
        redis::cmd("INFO").query(connection).map_err(|error| fault(place, &error))?;
    let get = |name: &str| {
        let mut lines = info.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default().trim()
    };
    let major = get("redis_version").split('.').next().and_then(|major| major.parse().ok());
    if major.is_none_or(|major: u32| major < OLDEST_MAJOR) {
        return Err(Fault::Rejected(format!(
            "{place}: version {:?} is too old, or none: Redis {OLDEST_MAJOR} or later is needed",
            get("redis_version")
        )));
    }
    if get("role") != "master" {
        return Err(not_primary(place));
    }
    let policy = get("maxmemory_policy");
    if get("maxmemory") != "0" && policy != "noeviction" {
        return Err(Fault::Rejected(format!(
            "{place} may forget leases when memory is short: its maxmemory-policy is {policy:?} \
             and must be noeviction, or maxmemory 0"
        )));
    }
    let replicas = info.lines().filter(|line| is_replica(line)).count();
    if confirming > 0 && replicas > 2 * confirming as usize {
        return Err(Fault::Rejected(format!(
            "{place} has {replicas} replicas: with replicas={confirming} two primaries at once could \
             both have their writes confirmed; use replicas={} or more",
            replicas.div_ceil(2)
        )));
    }
    Ok(())
}

/// Whether a line of INFO is about a replica. What only copies the data (`redis-cli --rdb`) has no
/// port.
fn is_replica(line: &str) -> bool {
    let Some((number, state)) = line.strip_prefix("slave").and_then(|rest| rest.split_once(':'))
    else {
        return false;
    };
    number.parse::<u32>().is_ok() && !state.contains(",port=0,")
}

pub(super) fn not_primary(place: &str) -> Fault {
    Fault::Unavailable(format!("{place} is a replica: leases need the primary"))
}

impl Server {
    /// Waits until the replicas have what this connection wrote.
    pub(super) fn replicated(&mut self) -> Result<(), Fault> {
        if self.replicas == 0 {
            return Ok(());
        }
        let mut wait = redis::cmd("WAIT");
        wait.arg(self.replicas).arg(REPLICA_TIMEOUT.as_millis() as u64);
        // Even what the server refuses comes too late to undo the write.
        let unconfirmed = |error| Fault::Unavailable(fault(&self.place, &error).to_string());
        let have: u32 = wait.query(&mut self.connection).map_err(unconfirmed)?;
        if have >= self.replicas {
            return Ok(());
        }
        Err(Fault::Unavailable(format!(
            "{}: {have} of {} replicas confirmed the write in time",
            self.place, self.replicas
        )))
    }
}

impl Store for Server {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        transact(self, namespace, work)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        let mut cursor = 0_u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{}*}}", Keys::PREFIX));
            scan.arg("COUNT").arg(1000);
            let (next, keys): (u64, Vec<String>) =
                scan.query(&mut self.connection).map_err(|error| fault(&self.place, &error))?;
            let name = |key: &String| {
                let name = key.strip_prefix(Keys::PREFIX)?.strip_suffix('}')?;
                Namespace::check_name(name).is_ok().then(|| name.to_owned())
            };
            names.extend(keys.iter().filter_map(name));
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        names.sort();
        // A scan may tell a key twice.
        names.dedup();
        Ok(names)
    }
}

/// The driver's errors hold no URL, and no arguments but those that are cut off here, like the
/// number of the script, which nobody knows.
pub(super) fn fault(place: &str, error: &RedisError) -> Fault {
    let detail = error.detail().unwrap_or_default();
    let detail = detail.split(", with args").next().unwrap_or_default();
    let detail = detail.split(" script: ").next().unwrap_or_default();
    let code = error.code().unwrap_or_default();
    let text = if error.is_timeout() {
        format!("{place} did not answer in time")
    } else if matches!(error.kind(), ErrorKind::Io | ErrorKind::InvalidClientConfig) {
        // What is wrong with the URL, the certificates or the connection.
        format!("{place}: {error}")
    } else {
        format!("{place}: {} {code} {detail}", error.category())
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // One side does not like the other's certificate.
    if text.contains("invalid peer certificate") || text.contains("received fatal alert") {
        return Fault::Rejected(text);
    }
    match (error.kind(), code) {
        (_, "MOVED" | "ASK") => Fault::Rejected(format!(
            "{text}: this node of the cluster has another part of the keys; use the URL of the \
             node that has this one"
        )),
        (
            _,
            "NOAUTH" | "WRONGPASS" | "NOPERM" | "WRONGTYPE" | "CROSSSLOT" | "ERR" | "EXECABORT",
        ) if !detail.contains("max number of clients") => Fault::Rejected(text),
        (
            ErrorKind::AuthenticationFailed
            | ErrorKind::InvalidClientConfig
            | ErrorKind::UnexpectedReturnType
            | ErrorKind::Parse,
            _,
        ) => Fault::Rejected(text),
        // Loading, busy, out of memory, a broken disk, no longer the primary, time-outs.
        _ => Fault::Unavailable(text),
    }
}
