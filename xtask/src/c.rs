//! The C library as users get it, and the proof that other languages can link it.
//!
//! cargo-c would do much of the packing, but it is a program of three hundred crates to install,
//! and its archives have no `CMake` package.

mod archive;
mod cost;
mod languages;
mod programs;

pub(crate) use archive::build;
pub(crate) use cost::bench;
pub(crate) use languages::jars;
pub(crate) use programs::{Place, installed, test};
