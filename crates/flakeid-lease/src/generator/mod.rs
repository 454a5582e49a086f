//! Generators whose node is leased.

mod builder;
mod cached;
mod leased;
mod local;
#[cfg(all(test, loom))]
mod loom_models;
mod users;

pub use builder::LeaseBuilder;
pub use cached::LeasedCachedGenerator;
pub use leased::LeasedGenerator;
pub use local::LeasedLocalGenerator;
