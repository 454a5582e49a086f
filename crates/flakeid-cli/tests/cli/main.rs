//! Runs the command as its users do: arguments and environment in; output, messages and exit code
//! out.

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
// The store that needs no server wants a Unix.
#[cfg(unix)]
mod leased;
#[cfg(unix)]
mod leases;
#[cfg(unix)]
mod many;
// Where the servers are installed for the tests of the stores.
#[cfg(target_os = "linux")]
mod migrate;
mod next;
mod plan;
mod refusals;
mod run;
mod shells;
// Other systems' `script` takes other arguments.
#[cfg(target_os = "linux")]
mod operator;
// Where the servers are installed for the tests of the stores.
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
