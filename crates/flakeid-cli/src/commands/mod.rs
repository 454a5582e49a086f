//! The commands. Each command reads its arguments, calls `flakeid-core` or `flakeid`, and writes
//! the result.

pub(crate) mod bounds;
pub(crate) mod exec;
pub(crate) mod inspect;
pub(crate) mod keyed;
pub(crate) mod layout;
pub(crate) mod leases;
pub(crate) mod migrate;
pub(crate) mod next;
mod next_source;
pub(crate) mod plan;
#[cfg(feature = "http")]
pub(crate) mod serve;
#[cfg(not(feature = "http"))]
#[path = "serve_omitted.rs"]
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod whois;
