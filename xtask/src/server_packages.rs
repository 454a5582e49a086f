//! The servers that the tests, the guide and `cargo xtask stores` start.

use flakeid_steps::packages::{self, Program};
use flakeid_steps::{Failed, Outcome, Step, files, machine, root};

use crate::linters::check_go;
use crate::npm::npm;

pub(crate) const POSTGRESQL: Program = ("/usr/lib/postgresql/*/bin/postgres", "postgresql");
pub(crate) const REDIS: Program = ("redis-server", "redis-server");

/// The programs that the tests in Rust and the campaign start: a server for each kind of store, `etcdctl`, which reports
/// whether etcd has started, and the programs that build or run the other servers.
pub(crate) const NEEDED: &[Program] = &[
    POSTGRESQL,
    ("mariadbd", "mariadb-server"),
    REDIS,
    ("etcd", "etcd-server"),
    ("etcdctl", "etcd-client"),
    ("go", "golang-go"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("curl", "curl"),
    // The package's name contains the version of PostgreSQL; this is the one of Debian 12.
    ("/usr/share/postgresql/*/extension/pg_partman.control", "postgresql-15-partman"),
    ("pgbouncer", "pgbouncer"),
    ("/usr/lib/galera/libgalera_smm.so", "galera-4"),
    ("mariadb-dump", "mariadb-client"),
    ("sqlite3", "sqlite3"),
    ("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime"),
];

/// The folder with links to the servers that are not Debian packages.
const SERVERS: &str = "target/servers";

/// Installs the packages of the server that `tests/servers/dynalite` pins.
fn ensure_dynalite() -> Outcome {
    const PINS: &str = "tests/servers/dynalite";
    let lock = files::text(format!("{PINS}/package-lock.json"))?;
    let folder = machine::built("dynalite", &[lock], |folder| {
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            files::copy(format!("{PINS}/{file}"), folder.join(file))?;
        }
        let folder = files::shown(folder)?;
        npm(&["--prefix", &folder, "ci", "--silent", "--ignore-scripts"]).run()
    })?;
    machine::link(&root().join(SERVERS).join("dynalite"), &folder)
}

/// Builds the program that `tests/servers/versitygw/go.mod` pins: a server with the interface of
/// S3.
fn ensure_versitygw() -> Outcome {
    const PINS: &str = "tests/servers/versitygw";
    let inputs = [go_version()?, files::text(format!("{PINS}/go.mod"))?];
    let folder = machine::built("versitygw", &inputs, |folder| {
        Step::new("go", &["install", "-trimpath", "tool"])
            .within(PINS)
            .env("CGO_ENABLED", "0")
            .env("GOBIN", folder)
            .env("GOFLAGS", "-mod=readonly")
            // An older Go downloads the version that go.mod requires.
            .env("GOTOOLCHAIN", "auto")
            .run()
    })?;
    machine::link(&root().join(SERVERS).join("bin"), &folder)
}

/// Checks that Go can build the servers, and returns its version.
pub(crate) fn go_version() -> Result<String, Failed> {
    check_go()?;
    Step::new("go", &["version"]).output()
}

/// Ensures that the tests in Rust and the campaign can start everything they need.
pub(crate) fn ensure_all() -> Outcome {
    packages::ensure(NEEDED)?;
    ensure_dynalite()?;
    ensure_versitygw()
}
