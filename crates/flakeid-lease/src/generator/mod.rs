//! Generators whose node is leased.

mod builder;
mod cached;
mod chain;
mod lease;
mod leased;
mod local;
#[cfg(all(test, loom))]
mod loom_models;
mod option_table;
mod options;
mod registry;
mod users;

pub use builder::LeaseBuilder;
pub use cached::LeasedCachedGenerator;
pub(crate) use lease::Lease;
pub use leased::LeasedGenerator;
pub use local::LeasedLocalGenerator;
