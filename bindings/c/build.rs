//! Gives the shared library the name that programs ask for at run time: it changes with every
//! version that may break them, which below 1.0 is every minor one.

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
        _ => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libflakeid.so.{compatible}"),
    }
}
