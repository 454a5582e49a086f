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
//! another database, and a restored dump makes another table. The timeline is not in it: it changes
//! only in another run, but shows in the control file after the first checkpoint, by when there may
//! be grants.
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

mod connect;
mod fault;
mod ledger;
mod page;
mod schema;
mod tls;
mod transaction;

pub(super) use connect::connect;
