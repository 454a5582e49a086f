//! etcd 3.4 or later, by its JSON gateway: `etcd://[user:password@]host:port[,host:port…]/`,
//! `etcds://` with TLS. Options: `tls-ca`, `tls-cert`, `tls-key` (PEM files).
//!
//! - A namespace's keys are below `/flakeid/<namespace>/`: `namespace`, `row/<node>`, `used/<node>`
//!   (tells that there was a row, should it be deleted) and `history/<node>/<start>/<grant>`.
//! - A row that was deleted past this library is noticed by whoever comes to its node next, its holder
//!   included: a new row is written only where there is no mark. Then the store counts as restored.
//! - No key hangs on an etcd lease: a row holds its own `expires`, and must outlive it, because its
//!   fence counts for ever.
//! - The clock is the one of the member that answers, by its `Date` header, in whole seconds. So the
//!   clocks of all members must be right within a few seconds.
//! - Each term of the cluster counts as another store: a cold copy of a member's data goes on in
//!   another term than the one noted in it, and so does a cluster with a new leader, where grants
//!   pause for about half a minute without need. A restored snapshot begins again with an old
//!   term, but with a shorter log for its revision, which is noted too.
//! - A transaction is several requests on one connection, and ends with it: behind a proxy that closes
//!   connections after each answer nothing is granted.
//! - Reads and writes are linearizable. Compaction does no harm: only the present is read.
//! - The coldest node is the one with the lowest fence among the 256 candidates that were written
//!   longest ago.
//! - **Not noticed**, besides what [no store notices](super): older values put back while the
//!   cluster runs on, as by `etcdctl put`.

mod commit;
mod connection;
mod date;
mod gateway;
mod keys;
mod nodes;
mod pin;
mod run;
mod shelf;

pub(super) use connection::connect;
