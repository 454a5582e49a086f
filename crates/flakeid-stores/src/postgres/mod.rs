//! `PostgreSQL` 12 and later. Leases use only the primary, never a standby.
//!
//! The URL has the format of libpq: `postgresql://user:password@host:port/database?option=value&…`. The following
//! libpq options are supported: `user`, `password`, `dbname`, `host`, `hostaddr`, `port`, `options`,
//! `application_name`, `target_session_attrs`, `channel_binding`, `sslnegotiation`, and
//!
//! - `sslmode`: `disable`; `prefer` (the default: TLS if the server supports it, not verified); `require` (always
//!   TLS, verified as with `verify-ca` if `sslrootcert` is set); `verify-ca` (the certificate must be issued by a
//!   trusted authority); `verify-full` (the certificate must also be for this host). Use `verify-full`, unless the
//!   network is private to you.
//! - `sslrootcert`: a PEM file of the authorities to trust instead of the system's authorities, which are
//!   the default. `system` means the system's authorities, and requires `verify-full`.
//!
//! With several hosts, `postgresql://user:password@one:5432,two:5432/database`, flakeid uses the first
//! writable host: `target_session_attrs` is `read-write` by default. The hosts share the connection
//! timeout of 2 s equally, so that a host that hangs does not prevent the next one from being tried.
//!
//! A pooler that assigns a connection for one transaction at a time, such as `PgBouncer` with `pool_mode =
//! transaction`, may be placed between flakeid and the server. Statements are unnamed, and settings (`SET LOCAL`) and
//! advisory locks end with their transaction. The pooler must close the client's connection if it loses the server's
//! connection within a transaction. `PgBouncer` needs `server_login_retry = 1`; otherwise it does not connect to a
//! restarted server for 15 s.
//!
//! `flakeid leases init` needs a role that may create tables in the first schema of its search path; the
//! role becomes their owner. A service's role needs only the following rights, with which it cannot drop
//! tables, delete rows or disable triggers:
//!
//! ```sql
//! GRANT USAGE ON SCHEMA public TO service;
//! GRANT SELECT ON flakeid_schema TO service;
//! GRANT SELECT, UPDATE ON flakeid_namespace TO service;
//! GRANT SELECT, INSERT, UPDATE ON flakeid_node TO service;
//! GRANT SELECT, INSERT ON flakeid_grant TO service;
//! GRANT SELECT, INSERT ON flakeid_sub_grant TO service;
//! ```
//!
//! With `INSERT ON flakeid_namespace`, the role may also create further namespaces. A role that removes old grants from
//! the history, with `flakeid serve` or `flakeid leases prune`, also needs the following right:
//!
//! ```sql
//! GRANT DELETE ON flakeid_grant, flakeid_sub_grant TO service;
//! ```
//!
//! An incarnation is one run of the server on these tables: `system identifier / oid of the database /
//! oid of flakeid_node / start of the postmaster`. Restarts, failovers and restored copies start another
//! postmaster, a copy of the database (`CREATE DATABASE … TEMPLATE`) is another database, and a restored
//! dump creates another table. The incarnation does not contain the timeline. The timeline changes only
//! in another run, but the control file shows it only after the first checkpoint, when the store may
//! already have granted nodes.
//!
//! # Not detected
//! The operator of the server has to exclude the following cases, in addition to those that
//! [no store detects](flakeid_protocol::store):
//!
//! - Two primaries: a standby is promoted while the old primary still serves clients, or clients return
//!   to an old primary that was not stopped while the other server was the primary. Either set
//!   `synchronous_standby_names` on both servers, or fence the old primary off before the standby is
//!   promoted, as Patroni does with a watchdog.
//! - Older data put back while the server keeps running: rows are loaded into the tables with their
//!   triggers disabled, or the database is renamed and later renamed back.

mod fault;
mod store;
mod tls;
mod transaction;

use std::time::Duration;

use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::hosts::first_usable;
use super::sql::{BlockingRuntime, SqlStore};
use crate::backend::{Backend, Connect};
use fault::{connect_fault, with_causes};
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Store};
use flakeid_protocol::url::ServerUrl;
use store::PostgresServer;

/// The supported URL options. All options except the TLS options `sslmode` and `sslrootcert` are passed to the driver
/// unchanged.
const OPTIONS: [&str; 13] = [
    "user",
    "password",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "options",
    "application_name",
    "target_session_attrs",
    "channel_binding",
    "sslnegotiation",
    "sslmode",
    "sslrootcert",
];

pub(super) static BACKEND: Backend = Backend {
    forms: &["postgresql://"],
    connect: Connect::Store(|place| connect(place.url)),
    file: None,
    documents: None,
};

/// Connects to the first usable server listed in a URL.
///
/// # Errors
/// [`Fault::Rejected`] for an invalid URL, password, database or certificate; [`Fault::Unavailable`] if no server
/// responds within the connection timeout.
fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &OPTIONS)?;
    url.check_at_sign()?;
    let (ssl_mode, verification) = tls::mode(&url)?;
    let places = places(&url, ssl_mode)?;
    let tls = match verification {
        None => None,
        Some(verification) => Some(MakeRustlsConnect::new(tls::config(&url.shown, verification)?)),
    };
    first_usable(&places, |place, share| {
        let runtime = BlockingRuntime::new(&place.shown)?;
        let client = match &tls {
            None => open(&runtime, share, &place.config, NoTls)?,
            Some(tls) => open(&runtime, share, &place.config, tls.clone())?,
        };
        let store: Box<dyn Store> = Box::new(SqlStore::new(PostgresServer { runtime, client }));
        Ok(store)
    })
}

fn open<T>(
    runtime: &BlockingRuntime,
    timeout: Duration,
    config: &Config,
    tls: T,
) -> Result<Client, Fault>
where
    T: tokio_postgres::tls::MakeTlsConnect<Socket> + Send,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as tokio_postgres::tls::TlsConnect<Socket>>::Future: Send,
{
    let opened = runtime.wait(timeout, config.connect(tls))?;
    let (client, connection) = opened.map_err(|error| connect_fault(runtime.shown(), &error))?;
    runtime.spawn(async move {
        // The error is ignored here, because the next statement will report that the connection has ended.
        let _ = connection.await;
    });
    Ok(client)
}

/// One of the servers in a URL.
struct Place {
    /// The server's URL in a form that is safe to show in messages.
    shown: String,
    config: Config,
}

/// Returns the servers in the order in which the URL names them. The driver's own support for several hosts is not
/// used, because the driver has no timeout for a server that accepts a connection and then hangs. The driver would also
/// report only the last host's error.
fn places(url: &ServerUrl<'_>, ssl_mode: SslMode) -> Result<Vec<Place>, Fault> {
    let mut whole = driver_config(url, url.base, |_| true)?;
    set_defaults(&mut whole, ssl_mode);
    let (hosts, addresses) = (whole.get_hosts(), whole.get_hostaddrs());
    let (count, ports) = (hosts.len().max(addresses.len()), whole.get_ports());
    if count < 2 {
        return Ok(vec![Place { shown: url.shown.clone(), config: whole }]);
    }
    let fits = |length: usize, least: usize| length <= least || length == count;
    if !fits(hosts.len(), 0) || !fits(addresses.len(), 0) || !fits(ports.len(), 1) {
        return Err(url.reject(
            "the URL must contain the same number of hosts, addresses (hostaddr) and ports",
        ));
    }
    // The common configuration is built from the URL without hosts, because the driver cannot remove hosts from a
    // configuration.
    let (prefix, rest) = url.base.split_once("://").unwrap_or_default();
    let (user, rest) = rest.split_at(rest.find('@').map_or(0, |at| at + 1));
    let path = &rest[rest.find('/').unwrap_or(rest.len())..];
    let is_place = |name: &str| matches!(name, "host" | "hostaddr" | "port");
    let without = format!("{prefix}://{user}{path}");
    let mut common = driver_config(url, &without, |name| !is_place(name))?;
    set_defaults(&mut common, ssl_mode);
    // By default, only a writable server is accepted. A standby cannot be used, and after a failover, another server
    // may be the primary.
    if !url.options.iter().any(|(name, _)| *name == "target_session_attrs") {
        common.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    let place = |at: usize| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let mut config = common.clone();
        config.port(port);
        if let Some(address) = addresses.get(at) {
            config.hostaddr(*address);
        }
        let name = match hosts.get(at) {
            Some(Host::Tcp(host)) => {
                config.host(host);
                // If a password contains an `@` that is not percent-encoded, only the string after the last `@` is the
                // host name.
                host.rsplit('@').next().unwrap_or_default().to_owned()
            }
            #[cfg(unix)]
            Some(Host::Unix(path)) => {
                config.host_path(path);
                path.display().to_string()
            }
            None => addresses.get(at).map(ToString::to_string).unwrap_or_default(),
        };
        Place { shown: format!("{prefix}://{name}:{port}{path}"), config }
    };
    Ok((0..count).map(place).collect())
}

fn set_defaults(config: &mut Config, ssl_mode: SslMode) {
    config.tcp_user_timeout(CONNECT_TIMEOUT).ssl_mode(ssl_mode);
    if config.get_application_name().is_none() {
        config.application_name("flakeid");
    }
}

/// Builds the driver's configuration from `base` and from those URL options that `is_wanted` accepts. Omits the TLS
/// options.
fn driver_config(
    url: &ServerUrl<'_>,
    base: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Config, Fault> {
    let is_for_tls = |name: &str| matches!(name, "sslmode" | "sslrootcert");
    let passed = url.options.iter().filter(|(name, _)| !is_for_tls(name) && is_wanted(name));
    let passed: Vec<String> = passed.map(|(name, value)| format!("{name}={value}")).collect();
    let config: Result<Config, _> = format!("{base}?{}", passed.join("&")).parse();
    config.map_err(|error| url.reject(with_causes(&error)))
}
