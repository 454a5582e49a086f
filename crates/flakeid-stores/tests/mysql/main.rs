//! Tests of leases in `MariaDB` and `MySQL`: the tests for all SQL servers, and tests specific to these two servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[path = "../client/mod.rs"]
mod client;
mod failover;
mod faults;
mod galera;
#[path = "../operations/mod.rs"]
mod operations;
#[path = "../client/restored.rs"]
mod restored;
mod server;
#[path = "../sql/mod.rs"]
mod sql;

sql::test_sql_server!(flakeid_test_servers::MariadbServer);
