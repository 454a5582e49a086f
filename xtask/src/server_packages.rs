//! The Debian packages of the servers that the tests, the guide and `cargo xtask stores` start.

use flakeid_steps::{Outcome, packages};

pub(crate) const POSTGRESQL: (&str, &str) = ("/usr/lib/postgresql/*/bin/postgres", "postgresql");
pub(crate) const REDIS: (&str, &str) = ("redis-server", "redis-server");

/// A server for each kind of store, and `etcdctl`, which reports whether etcd has started.
const STORES: [(&str, &str); 5] = [
    POSTGRESQL,
    ("mariadbd", "mariadb-server"),
    REDIS,
    ("etcd", "etcd-server"),
    ("etcdctl", "etcd-client"),
];

/// The additional programs that the tests in Rust and the campaign start.
const ADDITIONAL: [(&str, &str); 6] = [
    // The package's name contains the version of PostgreSQL; this is the one of Debian 12.
    ("/usr/share/postgresql/*/extension/pg_partman.control", "postgresql-15-partman"),
    ("pgbouncer", "pgbouncer"),
    ("/usr/lib/galera/libgalera_smm.so", "galera-4"),
    ("mariadb-dump", "mariadb-client"),
    ("sqlite3", "sqlite3"),
    ("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime"),
];

/// Ensures that a private server of every kind of store can be started.
pub(crate) fn ensure_stores() -> Outcome {
    packages::ensure(&STORES)
}

/// Ensures that the tests in Rust and the campaign can start everything they need.
pub(crate) fn ensure_all() -> Outcome {
    packages::ensure(&[&STORES[..], &ADDITIONAL[..]].concat())
}
