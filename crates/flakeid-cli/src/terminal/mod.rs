//! Standard output and standard error.

pub(crate) mod output;
pub(crate) mod progress;
