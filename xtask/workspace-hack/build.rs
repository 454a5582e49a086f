//! Cargo builds the build dependencies only of packages with a build script, so this one exists.

fn main() {}
