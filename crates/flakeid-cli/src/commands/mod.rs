//! What each command does: it reads its arguments, asks `flakeid-core` or `flakeid`, and
//! writes the answer.

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
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod sql;
pub(crate) mod whois;
