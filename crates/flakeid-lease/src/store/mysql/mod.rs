//! `MariaDB` 10.6 and later, and `MySQL` 8.0 and later: one server that may be written to, no replica,
//! no cluster of several such servers.
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
//! GRANT SELECT, INSERT ON ids.flakeid_run TO service;
//! ```
//!
//! With `INSERT` on `flakeid_namespace` it may also create further namespaces.
//!
//! An incarnation is one run of the server on these tables: `random value / server / creation of
//! flakeid_node`. The random value is in a table that is in memory only, so that the first who
//! comes after a restart finds it empty and fills it. Where it is replicated, the server's name
//! tells a replica from its source. Restored dumps make the tables anew.
//!
//! # Not noticed
//! So whoever runs the server has to exclude it, besides what [no store notices](super):
//!
//! - Two servers that may be written to: a replica is promoted (`read_only = 0`) while its source
//!   still serves clients, or clients return to an old source that was not stopped while the other
//!   was the source. Set `read_only = 1` on the old source, or stop it, before the replica is
//!   promoted.
//! - Older data put back while the server runs on, as by `ALTER TABLE … IMPORT TABLESPACE`, which
//!   leaves the table's creation time as it was.

mod cells;
mod connect;
mod fault;
mod ledger;
mod page;
mod schema;
mod transaction;

pub(super) use connect::connect;
