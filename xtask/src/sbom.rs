//! Lists of crates: in the static command, and as software bills of materials in the format
//! `CycloneDX`, for everything that a release compiles from Rust. maturin adds a bill to each wheel,
//! so Python is missing here. cargo resolves the features of all packages together, so a bill may
//! list a crate of which its artifact contains no code.

use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Outcome, Step, files, root};

const DIST: &str = "target/dist/sbom";
/// The copy of the project, because the tool writes a file next to each `Cargo.toml`.
const SOURCES: &str = "target/sbom/sources";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The package of each artifact, with its folder: the command, the C library with the jar, the
/// slim library of the Go module, the `SQLite` extension, and the npm packages.
const PACKAGES: [(&str, &str); 6] = [
    ("flakeid-cli", "crates/flakeid-cli"),
    ("flakeid-c", "bindings/c"),
    ("flakeid-c-slim", "bindings/c/slim"),
    ("flakeid-sqlite", "bindings/sqlite"),
    ("flakeid-node", "bindings/node"),
    ("flakeid-wasm", "bindings/wasm"),
];

/// Writes one bill for each package, for all platforms together, and returns the files.
pub(crate) fn build() -> Result<Vec<PathBuf>, Failed> {
    let tool = cargo_tool(&root().join("target/tools"), "cargo-cyclonedx@0.5.9")?;
    files::empty(DIST)?;
    files::empty(SOURCES)?;
    for file in files::of_project()? {
        files::copy(&file, Path::new(SOURCES).join(&file))?;
    }
    Step::new(&tool, &["cyclonedx", "--format", "json", "--spec-version", "1.5", "--quiet"])
        .args(&["--target", "all", "--no-build-deps"])
        .within(SOURCES)
        // Without the variable, a bill contains the current time and a random number.
        .env("SOURCE_DATE_EPOCH", "1767225600")
        .run()?;
    let sources = files::shown(&root().join(SOURCES))?;
    let mut bills = Vec::new();
    for (name, folder) in PACKAGES {
        let bill = files::text(format!("{SOURCES}/{folder}/{name}.cdx.json"))?;
        // The references in a bill contain the path of the sources, which differs on each machine.
        let bill = bill.replace(&sources, "");
        check(name, &bill)?;
        let file = format!("{DIST}/{name}-{VERSION}.cdx.json");
        files::write(&file, bill)?;
        bills.push(file.into());
    }
    files::remove(SOURCES)?;
    println!("{DIST}");
    Ok(bills)
}

/// Returns the path of cargo-auditable, which adds the list of crates to an executable. It is installed in cargo's home,
/// because cargo makes the names of symbols depend on the tool's path. With a path inside the checkout, an executable
/// would depend on the checkout's folder.
pub(crate) fn auditable() -> Result<String, Failed> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let home = home.ok_or_else(|| Failed("neither CARGO_HOME nor HOME is set".into()))?;
    cargo_tool(&home.join("flakeid-tools"), "cargo-auditable@0.7.7")
}

/// Returns the path of a command of cargo, which is installed in `folder` if this version is missing there.
fn cargo_tool(folder: &Path, tool: &str) -> Result<String, Failed> {
    let folder = folder.join(tool);
    let program = folder.join("bin").join(tool.split('@').next().unwrap_or(tool));
    if !program.is_file() {
        let folder = files::shown(&folder)?;
        Step::cargo(&["install", "--quiet", "--locked", "--root", &folder, tool]).run()?;
    }
    files::shown(&program)
}

/// Checks that a bill lists its package, and the core, on which every package depends.
fn check(name: &str, bill: &str) -> Outcome {
    let names = [name, "flakeid-core"].map(|name| format!("\"name\": \"{name}\""));
    let missing = names.iter().find(|name| !bill.contains(name.as_str()));
    missing.map_or(Ok(()), |missing| {
        Err(Failed(format!("the bill of materials of {name} does not contain {missing}")))
    })
}
