//! Tables 10, 11 and 12: brokers of leases.

pub(crate) mod connections;
pub(crate) mod holders;
mod hosted;
pub(crate) mod member_process;
mod members;
pub(crate) mod renewals;
mod requests;
