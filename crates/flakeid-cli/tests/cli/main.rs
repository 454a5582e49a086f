//! Tests that run the command as its users do: with arguments and environment variables, checking
//! output, messages and exit codes.

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
// The servers are installed only on Linux, for the tests of the stores.
#[cfg(target_os = "linux")]
mod migrate;
mod next;
mod plan;
mod refusals;
mod run;
mod shells;
// On other systems `script` has other arguments.
#[cfg(target_os = "linux")]
mod operator;
// The servers are installed only on Linux, for the tests of the stores.
#[cfg(target_os = "linux")]
mod serve;
mod servers;
#[cfg(target_os = "linux")]
mod sql;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod whois;
