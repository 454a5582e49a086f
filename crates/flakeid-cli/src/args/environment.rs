//! Environment variables that stand in for flags.

use flakeid_core::Error;

use crate::failure::Failure;

/// An environment variable. One that is set but empty counts: an empty value that stands where a
/// node was meant to be must not pass for "no node".
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// An error in the value of a variable. The hint names it, because nobody typed the value here.
pub(crate) fn failure(error: Error, name: &str) -> Failure {
    Failure::hinted(error, format!("it comes from the environment variable {name}"))
}
