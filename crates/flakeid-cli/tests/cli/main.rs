//! Tests that run the `flakeid` command as users do, with arguments and environment variables, and
//! check its output, messages and exit codes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is how tests fail"
)]

mod bounds;
#[cfg(target_os = "linux")]
mod brokered;
mod brokers;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod clock_jumps;
#[cfg(unix)]
mod exec;
mod help;
mod inspect;
mod inspect_many;
mod keyed;
mod layout;
// The embedded store requires Unix.
#[cfg(unix)]
mod leased;
#[cfg(unix)]
mod leases;
#[cfg(unix)]
mod many;
// The database servers for the tests are installed only on Linux.
#[cfg(target_os = "linux")]
mod migrate;
mod next;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod operator;
mod plan;
mod refusals;
mod run;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(feature = "_system-tests")]
mod servers;
mod shells;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod sql;
#[cfg(unix)]
mod sql_script;
mod subcommands;
// The `script` command takes different arguments on systems other than Linux.
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod terminal;
#[cfg(all(target_os = "linux", feature = "_system-tests"))]
mod users;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod whois;
