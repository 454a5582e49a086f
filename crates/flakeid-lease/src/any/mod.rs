//! One handle over generators of a fixed and of a leased node, for programs that have either.

mod cached;
mod generator;
mod local;

pub use cached::AnyCachedGenerator;
pub use generator::AnyGenerator;
pub use local::AnyLocalGenerator;
