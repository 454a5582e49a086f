//! Compiles the C part of the extension. The C part calls `SQLite` through a table of functions, which only `SQLite`'s C
//! header declares.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/extension.c");
    println!("cargo::rerun-if-changed=src/extension.h");
    // The build script of libsqlite3-sys sets this variable to the folder of its headers.
    println!("cargo::rerun-if-env-changed=DEP_SQLITE3_INCLUDE");
    let mut build = cc::Build::new();
    if let Ok(include) = env::var("DEP_SQLITE3_INCLUDE") {
        // The headers of libsqlite3-sys are used, because the system's headers may be older.
        build.include(include);
    }
    build.file("src/extension.c").warnings(true).extra_warnings(true).compile("flakeid_extension");
}
