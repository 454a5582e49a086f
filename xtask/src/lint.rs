use crate::command::{Failed, Outcome, Step, root};

const DENY: [&str; 3] = ["--", "-D", "warnings"];

fn clippy(arguments: &[&str]) -> Outcome {
    let all: Vec<&str> = ["clippy"].iter().chain(arguments).chain(&DENY).copied().collect();
    Step::cargo(&all).run()
}

pub(crate) fn run() -> Outcome {
    Step::cargo(&["fmt", "--all", "--check"]).run()?;
    Step::cargo(&["fmt", "--manifest-path", "benches/Cargo.toml", "--check"]).run()?;
    clippy(&["--workspace", "--all-targets", "--locked"])?;
    clippy(&["-p", "flakeid-core", "--all-targets", "--all-features", "--locked"])?;
    clippy(&["-p", "flakeid-core", "--no-default-features", "--locked"])?;
    clippy(&["--manifest-path", "benches/Cargo.toml", "--locked"])?;
    Step::cargo(&["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
}

/// The compiler that `rust-version` promises, installed with `rustup toolchain install`.
pub(crate) fn msrv() -> Outcome {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml"))
        .map_err(|error| Failed(format!("Cargo.toml: {error}")))?;
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
