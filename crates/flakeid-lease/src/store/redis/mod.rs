//! Redis 5 or later, or Valkey: `redis://[user:password@]host[:port][/database]`, `rediss://` with
//! TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files), `replicas` (see below).
//!
//! - Each namespace is five keys, `flakeid:{namespace}` and the like: one hash slot of a cluster.
//!   No key has a time to live, and a server that evicts keys is refused.
//! - A namespace that is missing is an error: a server that lost everything must not grant.
//! - Each run of the server counts as another store, because Redis may forget the last second. One
//!   that keeps neither an append-only file nor snapshots forgets the namespaces too.
//! - **Failover**: a replica that takes over is another run, so everything granted before is fenced
//!   off. But a primary that was cut off from its replicas goes on granting until it learns of the
//!   other; with `replicas=1` (or more) it cannot, because nothing counts as written until that
//!   many replicas have it. Use that wherever there is automatic failover.

mod connection;
mod keys;
mod shelf;

pub(super) use connection::connect;
