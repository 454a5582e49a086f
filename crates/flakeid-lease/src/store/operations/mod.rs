//! The operations of leases, each one transaction, the same on every store.

mod lease;
mod namespace;
mod operator;

pub use lease::{acquire, acquire_read_at, release, renew, renew_read_at};
pub use operator::{
    Listing, PastHolder, Repair, adopt, fast_forward, init, init_lost, list, repair, whois,
};
