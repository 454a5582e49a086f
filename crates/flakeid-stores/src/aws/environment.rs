//! Environment variables.

/// Returns the value of an environment variable; `None` if it is missing or empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
