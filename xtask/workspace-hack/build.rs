//! This build script is empty. It exists because Cargo builds only the build dependencies of
//! packages with a build script.

fn main() {}
