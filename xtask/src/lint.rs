//! Checks that run no tests: lint, and compilation with the oldest supported compiler.

use flakeid_steps::{Failed, Outcome, Step, files, root, target_folder};

use crate::platform::RELEASED;
use crate::{api, header, linters, node, options, wasm};

const DENY: [&str; 3] = ["--", "-D", "warnings"];

/// The workspaces outside the main one, because they have many dependencies or are built
/// differently.
const OTHER_WORKSPACES: [&str; 5] = [
    "benches/Cargo.toml",
    "benches/c/Cargo.toml",
    "benches/node/floor/Cargo.toml",
    "benches/python/floor/Cargo.toml",
    "bindings/wasm/glue/Cargo.toml",
];

/// Packages that no other check compiles: one is compiled only when `flakeid.proto` changes, the other one only by
/// `cargo xtask fuzz`.
const FORMATTED_ONLY: [&str; 2] = ["fuzz/Cargo.toml", "xtask/grpc/Cargo.toml"];

/// Runs clippy with the profile `dev`, which shares compiled macros and build scripts with the tests.
fn clippy(arguments: &[&str]) -> Outcome {
    Step::cargo(&["clippy", "--locked"]).args(arguments).args(&DENY).run()
}

/// Runs clippy in another workspace, with this workspace's profile settings for dependencies.
fn clippy_of_other(manifest: &str) -> Outcome {
    Step::cargo(&["clippy", "--locked", "--all-targets", "--manifest-path", manifest])
        .args(&DENY)
        .env("CARGO_TARGET_DIR", target_folder())
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .run()
}

fn format_rust(arguments: &[&str]) -> Outcome {
    Step::cargo(&["fmt", "--all"]).args(arguments).run()?;
    for manifest in OTHER_WORKSPACES.into_iter().chain(FORMATTED_ONLY) {
        Step::cargo(&["fmt", "--manifest-path", manifest]).args(arguments).run()?;
    }
    // Packages with their own manifest. The check of the guide compiles them.
    let examples = files::entries("examples")?;
    let manifests = examples.iter().map(|folder| folder.join("Cargo.toml"));
    for manifest in manifests.filter(|manifest| manifest.is_file()) {
        let manifest = files::shown(&manifest)?;
        Step::cargo(&["fmt", "--manifest-path", &manifest]).args(arguments).run()?;
    }
    Ok(())
}

/// Formats the sources of every language.
pub(crate) fn format() -> Outcome {
    format_rust(&[])?;
    linters::format()
}

/// Runs the checks that need no compiled code.
pub(crate) fn sources() -> Outcome {
    options::check()?;
    format_rust(&["--check"])?;
    linters::python()?;
    linters::javascript()?;
    linters::go()?;
    linters::workflows()?;
    linters::spelling()?;
    Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-source-lints", "--"])
        .args(&RELEASED.map(|platform| platform.triple))
        .run()?;
    node::check_manifest()
}

/// Generates the pages of error codes and messages.
pub(crate) fn write_errors() -> Outcome {
    Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-source-lints", "--"])
        .args(&["--write-errors"])
        .run()
}

/// Runs the lints. With `full`, also compiles the sources with other features, for WebAssembly, and in the other
/// workspaces, which takes minutes and seldom finds anything that the rest does not.
pub(crate) fn run(full: bool) -> Outcome {
    sources()?;
    header::check()?;
    clippy(&["--workspace", "--all-targets", "--all-features"])?;
    // The default features.
    let crates = "-p flakeid-core -p flakeid-protocol -p flakeid-stores -p flakeid -p workspace-hack --all-targets";
    clippy(&crates.split(' ').collect::<Vec<_>>())?;
    api::check()?;
    Step::cargo(&["doc", "--locked", "--workspace", "--no-deps", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    if !full {
        return Ok(());
    }
    for other in [
        // flakeid-python in the form for free-threaded interpreters.
        "-p flakeid-python -p workspace-hack --no-default-features",
        "-p flakeid-core --no-default-features",
        "-p flakeid-cli --no-default-features",
    ] {
        clippy(&other.split(' ').collect::<Vec<_>>())?;
    }
    OTHER_WORKSPACES.iter().try_for_each(|manifest| clippy_of_other(manifest))?;
    wasm::lint()
}

/// Checks that the workspace compiles with the oldest supported compiler, the `rust-version` in
/// `Cargo.toml`.
pub(crate) fn msrv() -> Outcome {
    let manifest = files::text("Cargo.toml")?;
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| Failed("no rust-version in Cargo.toml".to_owned()))?;
    let all = ["run", version, "cargo", "check", "--workspace", "--all-features", "--locked"];
    Step::new("rustup", &all)
        // Without this hint, a missing toolchain would look like code that the oldest compiler
        // rejects.
        .or_install("https://rustup.rs, then: rustup toolchain install <rust-version>")
        .env("CARGO_TARGET_DIR", root().join("target").join("msrv"))
        .run()
}
