//! Cargo minds the build dependencies of packages that have a build script.

fn main() {}
