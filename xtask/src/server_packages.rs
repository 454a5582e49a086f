//! The Debian packages of the servers that tests, the guide and people start.

use flakeid_steps::{Outcome, packages};

pub(crate) const POSTGRESQL: (&str, &str) = ("/usr/lib/postgresql/*/bin/postgres", "postgresql");
pub(crate) const REDIS: (&str, &str) = ("redis-server", "redis-server");

/// A server of each store; etcd is asked by `etcdctl` whether it has started.
const STORES: [(&str, &str); 5] = [
    POSTGRESQL,
    ("mariadbd", "mariadb-server"),
    REDIS,
    ("etcd", "etcd-server"),
    ("etcdctl", "etcd-client"),
];

/// What the tests in Rust and the campaign start beside them.
const BESIDE: [(&str, &str); 6] = [
    // The package has the version of PostgreSQL in its name; this is Debian 12's.
    ("/usr/share/postgresql/*/extension/pg_partman.control", "postgresql-15-partman"),
    ("pgbouncer", "pgbouncer"),
    ("/usr/lib/galera/libgalera_smm.so", "galera-4"),
    ("mariadb-dump", "mariadb-client"),
    ("sqlite3", "sqlite3"),
    ("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime"),
];

/// Sees to it that a private server of every store can be started.
pub(crate) fn ensure_stores() -> Outcome {
    packages::ensure(&STORES)
}

/// Sees to it that the tests in Rust and the campaign can start everything.
pub(crate) fn ensure_all() -> Outcome {
    packages::ensure(&[&STORES[..], &BESIDE[..]].concat())
}
