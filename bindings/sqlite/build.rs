//! Compiles the part that calls the database: in C, because its functions are found through a table whose
//! declaration is a C header.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/extension.c");
    println!("cargo::rerun-if-changed=src/extension.h");
    // Where the build script of libsqlite3-sys says that its headers are.
    println!("cargo::rerun-if-env-changed=DEP_SQLITE3_INCLUDE");
    let mut build = cc::Build::new();
    if let Ok(include) = env::var("DEP_SQLITE3_INCLUDE") {
        // Not those of the system, which may be older.
        build.include(include);
    }
    build.file("src/extension.c").warnings(true).extra_warnings(true).compile("flakeid_extension");
}
