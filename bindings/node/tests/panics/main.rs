//! Tests of panics inside the add-on. Node runs the package's JavaScript with the add-on from
//! `addon.rs`.

#![allow(clippy::unwrap_used)]

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::path::Path;
use std::process::Command;

/// Returns the name of the npm package that contains the add-on for this platform.
fn package() -> String {
    let system = match OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let processor = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let abi = match OS {
        "windows" => "-msvc",
        "linux" if cfg!(target_env = "musl") => "-musl",
        "linux" => "-gnu",
        _ => "",
    };
    format!("flakeid-core-{system}-{processor}{abi}")
}

#[test]
fn panic_becomes_a_javascript_error_and_the_process_continues() {
    let program = std::env::current_exe().unwrap();
    let built = program.parent().unwrap().parent().unwrap();
    let addon = built.join(format!("examples/{DLL_PREFIX}panicking{DLL_SUFFIX}"));
    let modules = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::copy(&addon, modules.join(format!("{}.node", package()))).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/panics/panics.test.mjs");
    let tests = Command::new("node")
        .args(["--test", "--test-reporter=tap"])
        .arg(script)
        .env("NODE_PATH", modules)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&tests.stdout);
    assert!(tests.status.success(), "{shown}\n{}", String::from_utf8_lossy(&tests.stderr));
    assert!(shown.contains("# pass 5") && shown.contains("# fail 0"), "{shown}");
}
