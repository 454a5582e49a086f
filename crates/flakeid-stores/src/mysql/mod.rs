//! `MariaDB` 10.6 and later, and `MySQL` 8.0 and later. Leases require a writable server, which must not be a replica.
//! In a Galera cluster, leases require the first member.
//!
//! The URL is `mysql://user:password@host:port/database?option=value&…`, or `mariadb://…`. The options are:
//!
//! - `socket`: the path of the server's socket, which is used instead of the host and port.
//! - `ssl-mode`, with the same values as in the client programs: `disabled`; `preferred` (the default: TLS if the
//!   server supports it, not verified); `required` (always TLS, not verified); `verify_identity` (the certificate
//!   must be issued by a trusted authority, for this host). Use `verify_identity`, unless the network is private to
//!   you. The driver does not support `verify_ca`.
//! - `ssl-ca`: a PEM file of the authorities to trust instead of the system's authorities; only with
//!   `verify_identity`.
//!
//! With several hosts, `mysql://user:password@one:3306,two:3306/database`, flakeid uses the first writable
//! host (whose `read_only` is off). The hosts share the connection timeout of 2 s equally, so that a host
//! that hangs does not prevent the next one from being tried.
//!
//! `flakeid leases init` needs a user with `CREATE`, `INDEX`, `REFERENCES` and `TRIGGER` on the database.
//! If the server writes a binary log, `init` also requires `log_bin_trust_function_creators = 1` or the `SUPER`
//! privilege. A service's user needs only the following rights, with which it cannot drop tables, delete rows or
//! remove triggers:
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
//! With `INSERT` on `flakeid_namespace`, the user may also create further namespaces. A user that removes old grants
//! from the history, with `flakeid serve` or `flakeid leases prune`, also needs the following rights:
//!
//! ```sql
//! GRANT DELETE ON ids.flakeid_grant TO service;
//! GRANT DELETE ON ids.flakeid_sub_grant TO service;
//! ```
//!
//! An incarnation is one run of the server on these tables: `random value / server / creation of flakeid_node`. The
//! random value is in an in-memory table, which is empty after a restart until the first client fills it. If the
//! table is replicated, the server's name distinguishes a replica from its source. Restoring a dump creates the
//! tables again.
//!
//! # Galera
//! Every member of a Galera cluster is writable, and each would be a separate run, because in-memory tables are not
//! shared. Therefore, only one member writes leases: the first in the order that all members share. The first member
//! has the lowest index (`wsrep_local_index`) that does not belong to an arbitrator. The other members are refused, or
//! skipped if the URL names several hosts. The incarnation contains the cluster's composition
//! (`wsrep_cluster_conf_id`), so that the store counts as restored when a member joins or leaves. Otherwise, if an
//! operator made a member that had been cut off a cluster of its own, the loss of transactions would not be detected.
//!
//! Because only one member writes, grants continue and the floor is correct. A node never has two holders, even while
//! members disagree about which of them is the first. If another member has written a row since a transaction read it,
//! the transaction fails on commit (error 1213, a conflict that is retried). The floor and `list` are read after all
//! transactions that the cluster has confirmed by then (`wsrep_sync_wait = 1`, set for the session).
//!
//! # Not detected
//! The operator of the server has to exclude the following cases, in addition to those that
//! [no store detects](flakeid_protocol::store):
//!
//! - Two writable servers: a replica is promoted (`read_only = 0`) while its source still serves clients,
//!   or clients return to an old source that was not stopped while the other server was the source. Set
//!   `read_only = 1` on the old source, or stop it, before the replica is promoted.
//! - One Galera cluster that was split into two (`pc.bootstrap`, `pc.ignore_quorum`, `pc.ignore_sb`), if the members
//!   of both clusters continue.
//! - Older data put back while the server keeps running, for example by `ALTER TABLE … IMPORT TABLESPACE`,
//!   which does not change the table's creation time.

mod fault;
mod galera;
mod store;
mod transaction;

use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};
use rustls::RootCertStore;

use super::certificates::{install_default_cryptography, trusted_certificates};
use super::hosts::{Hosts, first_usable};
use super::sql::{BlockingRuntime, SqlStore};
use crate::backend::{Backend, Connect};
use fault::connect_fault;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Store};
use flakeid_protocol::url::{ServerUrl, redact};
use store::MysqlServer;

pub(super) static BACKEND: Backend = Backend {
    forms: &["mysql://"],
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
    let url = ServerUrl::parse(url, &["socket", "ssl-mode", "ssl-ca"])?;
    let mode = url.option("ssl-mode")?.unwrap_or_else(|| "preferred".into()).to_ascii_lowercase();
    let tls = tls_options(&url, &mode)?;
    let hosts = Hosts::parse(url.base);
    let several = hosts.list.len() > 1;
    if several && url.option("socket")?.is_some() {
        return Err(url.reject(
            "the option `socket` supports only one server, but the URL names several hosts",
        ));
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

/// Builds the driver's options for one server.
fn driver_options(url: &ServerUrl<'_>, address: &str) -> Result<OptsBuilder, Fault> {
    // The driver's own message is not shown, because it may contain the password from the URL.
    let options = Opts::from_url(address).map_err(|_| {
        url.reject("the URL does not have the form mysql://user:password@host:port/database")
    })?;
    if options.db_name().is_none_or(str::is_empty) {
        return Err(url.reject(
            "the URL must name a database, as in mysql://user:password@host:port/database",
        ));
    }
    Ok(OptsBuilder::from_opts(options)
        // Without this setting, the driver would switch from TCP to the server's socket if the server runs on this
        // host.
        .prefer_socket(false)
        .socket(url.option("socket")?)
        // The number of affected rows must include rows that an update matched but did not change.
        .client_found_rows(true)
        .tcp_keepalive(Some(CONNECT_TIMEOUT)))
}

/// Returns the TLS options for a value of `ssl-mode`. The values have the same meanings as in `MySQL`'s client
/// programs. Returns `None` for a connection without TLS.
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
        return Err(url.reject("ssl-ca requires ssl-mode=verify_identity"));
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
    // Some systems contain certificates that cannot be parsed. These certificates are removed, because the driver would
    // fail on the first of them.
    let readable =
        found.into_iter().filter(|cert| RootCertStore::empty().add(cert.clone()).is_ok());
    let readable: Vec<_> = readable.map(|cert| cert.to_vec().into()).collect();
    if readable.is_empty() {
        return Err(url.reject("none of the trusted root certificates can be parsed"));
    }
    Ok(Some(options.with_disable_built_in_roots(true).with_root_certs(readable)))
}
