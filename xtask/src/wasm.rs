//! The npm package flakeid-wasm: compiled, glued, optimized, packed, and tested as it is packed.

mod module;
mod package;
mod project;

pub(crate) use package::build;
pub(crate) use project::test;
