//! Runs the command as its users do: arguments and environment in; output, messages and exit code
//! out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is how tests fail"
)]

mod bounds;
mod help;
mod inspect;
mod layout;
mod next;
mod plan;
mod refusals;
mod run;
mod shells;
// Other systems' `script` takes other arguments.
#[cfg(target_os = "linux")]
mod terminal;
