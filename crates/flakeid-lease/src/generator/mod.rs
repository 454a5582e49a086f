//! Generators whose node is leased.

mod builder;
mod leased;
#[cfg(all(test, loom))]
mod loom_models;
mod registry;
mod shared;
mod tenure;
mod terms;

pub use builder::LeaseBuilder;
pub use leased::LeasedGenerator;
pub(crate) use shared::Shared;
