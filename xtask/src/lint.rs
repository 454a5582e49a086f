//! What is checked without running anything, and the oldest compiler.

use flakeid_steps::{Failed, Outcome, Step, files, root};

use crate::platform::RELEASED;
use crate::{linters, node, wasm};

const DENY: [&str; 3] = ["--", "-D", "warnings"];

/// What is out of the main workspace, because it is heavy or built in another way.
const OTHER_WORKSPACES: [&str; 5] =
    ["benches", "benches/c", "benches/node/floor", "benches/python/floor", "bindings/wasm/glue"];

fn clippy(arguments: &[&str]) -> Outcome {
    let all: Vec<&str> = ["clippy"].iter().chain(arguments).chain(&DENY).copied().collect();
    Step::cargo(&all).run()
}

fn other_manifests() -> [String; 5] {
    OTHER_WORKSPACES.map(|folder| format!("{folder}/Cargo.toml"))
}

fn format_rust(arguments: &[&str]) -> Outcome {
    Step::cargo(&["fmt", "--all"]).args(arguments).run()?;
    for manifest in &other_manifests() {
        Step::cargo(&["fmt", "--manifest-path", manifest]).args(arguments).run()?;
    }
    Ok(())
}

/// Formats everything, in every language.
pub(crate) fn format() -> Outcome {
    format_rust(&[])?;
    linters::format()
}

/// What needs no compiler.
pub(crate) fn sources() -> Outcome {
    format_rust(&["--check"])?;
    linters::python()?;
    linters::javascript()?;
    linters::workflows()?;
    Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-source-lints", "--"])
        .args(&RELEASED.map(|platform| platform.triple))
        .run()?;
    node::check_manifest()?;
    wasm::check_version()
}

pub(crate) fn run() -> Outcome {
    sources()?;
    clippy(&["--workspace", "--all-targets", "--locked"])?;
    clippy(&["-p", "flakeid-core", "--all-targets", "--all-features", "--locked"])?;
    clippy(&["-p", "flakeid-core", "--no-default-features", "--locked"])?;
    // What the wheels of free-threaded interpreters are built from.
    clippy(&["-p", "flakeid-python", "--no-default-features", "--locked"])?;
    for manifest in &other_manifests() {
        clippy(&["--manifest-path", manifest, "--all-targets", "--locked"])?;
    }
    wasm::lint()?;
    Step::cargo(&["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
}

/// The compiler that `rust-version` promises, installed with `rustup toolchain install`.
pub(crate) fn msrv() -> Outcome {
    let manifest = files::text("Cargo.toml")?;
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| Failed("no rust-version in Cargo.toml".to_owned()))?;
    let all = ["run", version, "cargo", "check", "--workspace", "--all-features", "--locked"];
    Step::new("rustup", &all)
        // A toolchain that is not installed would be taken for a broken promise.
        .or_install("https://rustup.rs, then: rustup toolchain install <rust-version>")
        .env("CARGO_TARGET_DIR", root().join("target").join("msrv"))
        .run()
}
