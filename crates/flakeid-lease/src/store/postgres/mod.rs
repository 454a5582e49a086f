//! `PostgreSQL` 12 and later: only the primary, never a standby.
//!
//! URL: as libpq's, `postgresql://user:password@host:port/database?option=value&…`. Of libpq's
//! options these are known: `user`, `password`, `dbname`, `host`, `hostaddr`, `port`, `options`,
//! `application_name`, `target_session_attrs`, `channel_binding`, `sslnegotiation`, and
//!
//! - `sslmode`: `disable`; `prefer` (the default: TLS if the server has it, unverified); `require`
//!   (TLS or nothing, and verified as by `verify-ca` if there is an `sslrootcert`); `verify-ca` (by
//!   an authority that is trusted); `verify-full` (and for this host). Use `verify-full` unless
//!   nobody else is on the network.
//! - `sslrootcert`: a PEM file of the authorities to trust instead of the system's; `system` means
//!   the system's, which is the default, and requires `verify-full`.
//!
//! `flakeid leases init` needs a role that may create tables in the first schema of its search
//! path, and makes it their owner. A service's role needs no more than this, and cannot drop
//! tables, delete rows or disable triggers with it:
//!
//! ```sql
//! GRANT USAGE ON SCHEMA public TO service;
//! GRANT SELECT ON flakeid_schema TO service;
//! GRANT SELECT, UPDATE ON flakeid_namespace TO service;
//! GRANT SELECT, INSERT, UPDATE ON flakeid_node TO service;
//! GRANT SELECT, INSERT ON flakeid_grant TO service;
//! ```
//!
//! With `INSERT ON flakeid_namespace` it may also create further namespaces.
//!
//! An incarnation is one run of the server on these tables: `system identifier / oid of the
//! database / oid of flakeid_node / start of the postmaster`. Restarts, failovers and restored
//! copies start another postmaster, a copy of the database (`CREATE DATABASE … TEMPLATE`) is
//! another database, and a restored dump makes another table. The timeline is not part of it: it
//! changes only in another run, but the control file shows it only after the first checkpoint, when
//! there may already be grants.
//!
//! # Not noticed
//! So whoever runs the server has to exclude it, besides what [no store notices](super):
//!
//! - Two primaries: a standby is promoted while the old primary still serves clients, or clients
//!   return to an old primary that was not stopped while the other was the primary. Either set
//!   `synchronous_standby_names` on both servers, or fence the old primary off before the standby
//!   is promoted, as Patroni does with a watchdog.
//! - Older data put back while the server runs on: rows loaded into the tables with their triggers
//!   off, or the database renamed away and later renamed back.

mod fault;
mod schema;
mod store;
mod tls;
mod transaction;

use tokio_postgres::{Client, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::retry::CONNECT_TIMEOUT;
use super::sql::{BlockingRuntime, SqlStore};
use super::url::ServerUrl;
use super::{Fault, Store};
use fault::{connect_fault, with_causes};
use store::PostgresServer;
use tls::Verification;

/// Options that are passed on as they are, and those for TLS.
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

/// Connects to a server.
///
/// # Errors
/// [`Fault::Rejected`] for a bad URL, password, database or certificate; [`Fault::Unavailable`]
/// if the server is not there within the connection time-out.
pub(super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &OPTIONS)?;
    let (config, verification) = read_options(&url)?;
    let runtime = BlockingRuntime::new(&url.shown)?;
    let client = match verification {
        None => open(&runtime, &config, NoTls)?,
        Some(verification) => {
            let tls = tls::config(&url.shown, verification)?;
            open(&runtime, &config, MakeRustlsConnect::new(tls))?
        }
    };
    Ok(Box::new(SqlStore::new(PostgresServer { runtime, client })))
}

fn open<T>(runtime: &BlockingRuntime, config: &Config, tls: T) -> Result<Client, Fault>
where
    T: tokio_postgres::tls::MakeTlsConnect<Socket> + Send,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as tokio_postgres::tls::TlsConnect<Socket>>::Future: Send,
{
    let opened = runtime.wait(CONNECT_TIMEOUT, config.connect(tls))?;
    let (client, connection) = opened.map_err(|error| connect_fault(runtime.shown(), &error))?;
    runtime.spawn(async move {
        // The next statement reports that the connection has ended.
        let _ = connection.await;
    });
    Ok(client)
}

/// The driver's configuration, and what TLS is to verify if there is to be TLS.
fn read_options(url: &ServerUrl<'_>) -> Result<(Config, Option<Verification>), Fault> {
    let is_for_tls = |name: &str| matches!(name, "sslmode" | "sslrootcert");
    let passed = url.options.iter().filter(|(name, _)| !is_for_tls(name));
    let passed: Vec<String> = passed.map(|(name, value)| format!("{name}={value}")).collect();
    let config: Result<Config, _> = format!("{}?{}", url.base, passed.join("&")).parse();
    let mut config = config.map_err(|error| url.reject(with_causes(&error)))?;
    // Each host of several gets its share of the time.
    let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
    let share = CONNECT_TIMEOUT / u32::try_from(hosts).unwrap_or(u32::MAX);
    config.connect_timeout(share).tcp_user_timeout(CONNECT_TIMEOUT);
    if config.get_application_name().is_none() {
        config.application_name("flakeid");
    }
    let (ssl_mode, verification) = tls::mode(url)?;
    config.ssl_mode(ssl_mode);
    Ok((config, verification))
}
