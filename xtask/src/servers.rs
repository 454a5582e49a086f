//! The servers that tests and the guide start, by the Debian packages that have them.

use flakeid_steps::{Outcome, packages};

pub(crate) const POSTGRESQL: (&str, &str) = ("/usr/lib/postgresql/*/bin/postgres", "postgresql");

/// One of each store, and what asks them whether they have started.
const STORES: [(&str, &str); 5] = [
    POSTGRESQL,
    ("mariadbd", "mariadb-server"),
    ("redis-server", "redis-server"),
    ("etcd", "etcd-server"),
    ("etcdctl", "etcd-client"),
];

/// What the tests start beside them.
const BESIDE: [(&str, &str); 6] = [
    // The package has the version of PostgreSQL in its name; this is Debian 12's.
    ("/usr/share/postgresql/*/extension/pg_partman.control", "postgresql-15-partman"),
    ("pgbouncer", "pgbouncer"),
    ("/usr/lib/galera/libgalera_smm.so", "galera-4"),
    ("mariadb-dump", "mariadb-client"),
    ("sqlite3", "sqlite3"),
    ("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime"),
];

/// What a private server of every store needs.
pub(crate) fn of_stores() -> Outcome {
    packages::ensure(&STORES)
}

/// What all tests in Rust and the campaign start.
pub(crate) fn of_tests() -> Outcome {
    packages::ensure(&[&STORES[..], &BESIDE[..]].concat())
}
