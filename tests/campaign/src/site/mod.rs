//! Stores, and what can be done to them.

mod server;
mod signal;
mod sqlite;

use server::{Machine, ServerSite};
use sqlite::SqliteSite;

use std::io;
use std::time::Duration;

use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};

use crate::campaign::Kind;
use crate::fault::Trouble;

/// A store in the field.
pub(crate) trait Site: Sync {
    /// What a group of workers opens it with.
    fn url(&self, group: usize) -> String;

    /// Takes the first copy of it, now that it has a namespace.
    ///
    /// # Errors
    /// When there is none.
    fn prepare(&self) -> io::Result<()>;

    /// The namespace's bound on running ahead, in milliseconds.
    fn max_ahead_ms(&self) -> u64;

    /// Whether the workers' clock is the store's, so that all of them have one.
    fn has_one_clock(&self) -> bool;

    /// What can be done to it.
    fn troubles(&self) -> &[Trouble];

    /// What cannot be done to it on this machine, and why, for people.
    fn lacks(&self) -> Option<&str> {
        None
    }

    /// Does one of them, and undoes it after a while.
    ///
    /// # Errors
    /// When it did not work: then the campaign is void.
    fn strike(&self, trouble: Trouble, duration: Duration, group: usize) -> io::Result<()>;
}

/// A new store of a kind, with nothing in it.
pub(crate) fn of(kind: Kind) -> io::Result<Box<dyn Site>> {
    let machine = match kind {
        Kind::Sqlite => return Ok(Box::new(SqliteSite::new()?)),
        Kind::Postgres => Machine::Postgres(PostgresServer::new()),
        Kind::Mysql => Machine::Mysql(MariadbServer::new()),
        Kind::Redis => Machine::Redis(RedisServer::new()),
        Kind::Etcd => Machine::Etcd(EtcdServer::new()),
        Kind::All => return Err(io::Error::other("one store at a time")),
    };
    Ok(Box::new(ServerSite::new(machine)?))
}

/// Keeps a server of every kind running until a signal ends this program.
pub(crate) fn keep_all() -> io::Result<()> {
    let ending = signal::Ending::new()?;
    let servers: [(&str, Box<dyn Server>); 4] = [
        ("postgres", Box::new(PostgresServer::new())),
        ("mysql", Box::new(MariadbServer::new())),
        ("redis", Box::new(RedisServer::new())),
        ("etcd", Box::new(EtcdServer::new())),
    ];
    for (kind, server) in &servers {
        println!("{kind:<10} {}", server.url());
    }
    println!("Ctrl-C stops them and deletes their data.");
    ending.wait()
}
