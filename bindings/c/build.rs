//! Sets the name by which programs load the shared library at run time. The name changes with every
//! version that may be incompatible. Before version 1.0, every minor version may be incompatible.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let (major, minor) = (variable("CARGO_PKG_VERSION_MAJOR"), variable("CARGO_PKG_VERSION_MINOR"));
    let compatible = if major == "0" { format!("0.{minor}") } else { major };
    match variable("CARGO_CFG_TARGET_OS").as_str() {
        "macos" => println!(
            "cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libflakeid.{compatible}.dylib"
        ),
        "windows" => {}
        // Each instance of the WebAssembly module contains its stack.
        "unknown" => println!("cargo::rustc-cdylib-link-arg=-zstack-size=262144"),
        _ => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libflakeid.so.{compatible}"),
    }
}
