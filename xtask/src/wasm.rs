//! The npm package flakeid-wasm: compiled, glued, optimized, packed, and tested as it is packed.

mod bench;
mod compiler;
mod module;
mod package;
mod project;

pub(crate) use bench::bench;
pub(crate) use module::lint;
pub(crate) use package::{DIST, build, check_version};
pub(crate) use project::test;
