//! `MariaDB` 10.6 and later, and `MySQL` 8.0 and later: one server that may be written to, not a
//! replica; or the first member of a Galera cluster.
//!
//! URL: `mysql://user:password@host:port/database?option=value&…`, or `mariadb://…`. Options:
//!
//! - `socket`: the path of the server's socket, to be used instead of host and port.
//! - `ssl-mode`, as the client programs have it: `disabled`; `preferred` (the default: TLS if the
//!   server has it, unverified); `required` (TLS or nothing, unverified); `verify_identity` (by an
//!   authority that is trusted, for this host). Use `verify_identity` unless nobody else is on the
//!   network. The driver cannot do `verify_ca`.
//! - `ssl-ca`: a PEM file of the authorities to trust instead of the system's; only with
//!   `verify_identity`.
//!
//! With several hosts, `mysql://user:password@one:3306,two:3306/database`, the first that may be
//! written to is taken (`read_only` is off). Each gets its share of the connection time-out, 2 s, so one
//! that hangs does not keep the next from being tried.
//!
//! `flakeid leases init` needs a user with `CREATE`, `INDEX`, `REFERENCES` and `TRIGGER` on the
//! database; where the server writes a binary log, also `log_bin_trust_function_creators = 1` or
//! `SUPER`. A service's user needs no more than this, and cannot drop tables, delete rows or remove
//! triggers with it:
//!
//! ```sql
//! GRANT SELECT ON ids.flakeid_schema TO service;
//! GRANT SELECT, UPDATE ON ids.flakeid_namespace TO service;
//! GRANT SELECT, INSERT, UPDATE ON ids.flakeid_node TO service;
//! GRANT SELECT, INSERT ON ids.flakeid_grant TO service;
//! GRANT SELECT, INSERT ON ids.flakeid_sub_grant TO service;
//! GRANT SELECT, INSERT ON ids.flakeid_run TO service;
//! ```
//!
//! With `INSERT` on `flakeid_namespace` it may also create further namespaces.
//!
//! An incarnation is one run of the server on these tables: `random value / server / creation of
//! flakeid_node`. The random value is in a table that is in memory only: the first client
//! after a restart finds it empty and fills it. Where the table is replicated, the server's name
//! distinguishes a replica from its source. Restored dumps create the tables anew.
//!
//! # Galera
//! Every member of a Galera cluster may be written to, and each would be a run of its own, because tables
//! in memory are not shared. So leases are written by one member, the first by the order that all
//! members share (`wsrep_local_index` is 0, or the lowest behind arbitrators). The others are refused,
//! and passed over if the URL names several. The incarnation contains the cluster's composition
//! (`wsrep_cluster_conf_id`): when a member joins or leaves, the store counts as restored. Otherwise a
//! member that was cut off, and that an operator then made a cluster of its own, would not notice that
//! it has lost what the others confirmed.
//!
//! With one writing member grants go on and the floor is right. That no node has two holders does not
//! depend on it, so it also holds while members disagree about which is the first: a transaction that
//! writes a row fails when it is committed (error 1213, a conflict that is retried) if another member
//! has written that row since it was read. What the floor says, and `list`, are read after everything
//! that the cluster had confirmed by then (`wsrep_sync_wait = 1`, set for the session).
//!
//! # Not noticed
//! So whoever runs the server has to exclude it, besides what [no store notices](super):
//!
//! - Two servers that may be written to: a replica is promoted (`read_only = 0`) while its source
//!   still serves clients, or clients return to an old source that was not stopped while the other
//!   was the source. Set `read_only = 1` on the old source, or stop it, before the replica is
//!   promoted.
//! - Two Galera clusters made of one (`pc.bootstrap`, `pc.ignore_quorum`, `pc.ignore_sb`), if the
//!   members of the other go on.
//! - Older data put back while the server runs on, as by `ALTER TABLE … IMPORT TABLESPACE`, which
//!   leaves the table's creation time as it was.

mod fault;
mod galera;
mod schema;
mod store;
mod transaction;

use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};
use rustls::RootCertStore;

use super::certificates::{install_default_cryptography, trusted_certificates};
use super::hosts::{Hosts, first_usable};
use super::sql::{BlockingRuntime, SqlStore};
use fault::connect_fault;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Store};
use flakeid_protocol::url::{ServerUrl, redact};
use store::MysqlServer;

/// Connects to the first server that can be used.
///
/// # Errors
/// [`Fault::Rejected`] for a bad URL, password, database or certificate; [`Fault::Unavailable`]
/// if no server is there within the connection time-out.
pub(super) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    let url = ServerUrl::parse(url, &["socket", "ssl-mode", "ssl-ca"])?;
    let mode = url.option("ssl-mode")?.unwrap_or_else(|| "preferred".into()).to_ascii_lowercase();
    let tls = tls_options(&url, &mode)?;
    let hosts = Hosts::parse(url.base);
    let several = hosts.list.len() > 1;
    if several && url.option("socket")?.is_some() {
        return Err(url.reject("the option socket is for one server, and the URL names several"));
    }
    let place = |host: &&str| {
        let address = hosts.url("mysql", host);
        Ok((redact(&hosts.url(hosts.scheme, host)), driver_options(&url, &address)?))
    };
    let places: Vec<_> = hosts.list.iter().map(place).collect::<Result<_, Fault>>()?;
    first_usable(&places, |(shown, options), share| {
        let runtime = BlockingRuntime::new(shown)?;
        let open = |tls| runtime.wait(share, Conn::new(options.clone().ssl_opts(tls)));
        let opened = match open(tls.clone())? {
            Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) if mode == "preferred" => {
                open(None)?
            }
            opened => opened,
        };
        let connection = opened.map_err(|error| connect_fault(shown, &error))?;
        let mut server = MysqlServer::new(runtime, connection)?;
        if several {
            server.check_writable()?;
        }
        let store: Box<dyn Store> = Box::new(SqlStore::new(server));
        Ok(store)
    })
}

/// The driver's options for one server.
fn driver_options(url: &ServerUrl<'_>, address: &str) -> Result<OptsBuilder, Fault> {
    // The driver's own words may quote the URL.
    let options = Opts::from_url(address).map_err(|_| {
        url.reject("the URL is not of the form mysql://user:password@host:port/database")
    })?;
    if options.db_name().is_none_or(str::is_empty) {
        return Err(url.reject("the URL names no database"));
    }
    Ok(OptsBuilder::from_opts(options)
        // Otherwise a connection to this host is made anew through the socket that it names.
        .prefer_socket(false)
        .socket(url.option("socket")?)
        // Counts rows that were found, even if an update left them as they were.
        .client_found_rows(true)
        .tcp_keepalive(Some(CONNECT_TIMEOUT)))
}

/// What the client programs' options ask for; `None` is no TLS.
fn tls_options(url: &ServerUrl<'_>, mode: &str) -> Result<Option<SslOpts>, Fault> {
    let verifies = match mode {
        "disabled" | "preferred" | "required" => false,
        "verify_identity" => true,
        _ => {
            return Err(
                url.reject("ssl-mode must be disabled, preferred, required or verify_identity")
            );
        }
    };
    if url.option("ssl-ca")?.is_some() && !verifies {
        return Err(url.reject("ssl-ca needs ssl-mode=verify_identity"));
    }
    if mode == "disabled" {
        return Ok(None);
    }
    install_default_cryptography();
    let options = SslOpts::default();
    if !verifies {
        return Ok(Some(options.with_danger_accept_invalid_certs(true)));
    }
    let found = trusted_certificates(url, "ssl-ca")?;
    // The driver fails on the first one that it cannot read, and systems ship such.
    let readable =
        found.into_iter().filter(|cert| RootCertStore::empty().add(cert.clone()).is_ok());
    let readable: Vec<_> = readable.map(|cert| cert.to_vec().into()).collect();
    if readable.is_empty() {
        return Err(url.reject("no certificate of a trusted authority can be read"));
    }
    Ok(Some(options.with_disable_built_in_roots(true).with_root_certs(readable)))
}
