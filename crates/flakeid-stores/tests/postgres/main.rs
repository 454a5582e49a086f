//! Tests of leases in `PostgreSQL`: the tests that all SQL servers share, and tests specific to `PostgreSQL`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[path = "../client/mod.rs"]
mod client;
mod copies;
mod failover;
mod faults;
#[path = "../client/issuing.rs"]
mod issuing;
#[path = "../operations/mod.rs"]
mod operations;
mod pgbouncer;
#[path = "../client/restored.rs"]
mod restored;
mod server;
#[path = "../sql/mod.rs"]
mod sql;

sql::test_sql_server!(flakeid_test_servers::PostgresServer);
