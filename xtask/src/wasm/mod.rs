//! The npm package flakeid-wasm, which is compiled, bundled, optimized, packed, and tested in
//! packed form. It consists of the files of `node/wasm`, the classes of `node/lib`, and the
//! WebAssembly module.

mod compiler;
mod module;
pub(crate) mod page;

use std::env;

use flakeid_steps::{Failed, Outcome, Step, files, packages, root, workspace};

use crate::es_module::{Runtime, as_es_module};
use crate::node::tests_below;
use crate::npm::npm;
use module::{GLUE, MODULES, Module};

pub(crate) use module::{for_go, lint};

pub(crate) const DIST: &str = "target/dist/wasm";
/// The files of the package before packing.
pub(crate) const PACKAGE: &str = "target/wasm/package";
/// The folder of a user's project, in which the tests run.
const PROJECT: &str = "target/wasm/project";
const BENCH: &str = "target/wasm/bench";
/// The files of `node/lib` that only the add-on uses.
const NATIVE: [&str; 6] =
    ["addon.js", "platform.js", "native.js", "local.js", "buffered.js", "cached.js"];

/// Writes an npm tarball to `target/dist/wasm`.
pub(crate) fn build() -> Outcome {
    module::make(&MODULES)?;
    for folder in [PACKAGE, DIST] {
        files::empty(folder)?;
    }
    check_version()?;
    files::copy_files("node/wasm", PACKAGE)?;
    files::copy_files("node/wasm/web", &format!("{PACKAGE}/web"))?;
    for name in ["api.d.ts", "leases.d.ts"] {
        files::copy(format!("node/{name}"), format!("{PACKAGE}/{name}"))?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        files::copy(name, format!("{PACKAGE}/{name}"))?;
    }
    for folder in ["node/lib", "node/wasm/lib"] {
        for name in files::names(folder)?.iter().filter(|name| !NATIVE.contains(&name.as_str())) {
            let source = files::text(format!("{folder}/{name}"))?;
            let module = as_es_module(name, &source, Runtime::Web)?;
            files::write(format!("{PACKAGE}/lib/{name}"), &source)?;
            files::write(format!("{PACKAGE}/web/{name}"), &module)?;
        }
    }
    for Module { name, .. } in MODULES {
        for file in [format!("{name}.js"), format!("{name}_bg.wasm")] {
            files::copy(format!("{GLUE}/node/{file}"), format!("{PACKAGE}/lib/{file}"))?;
        }
        files::copy(format!("{GLUE}/web/{name}.js"), format!("{PACKAGE}/web/{name}.js"))?;
    }
    npm(&["pack", "--silent", "--pack-destination", DIST, &format!("./{PACKAGE}")]).run()
}

/// Builds the package. Returns the path of its tarball.
pub(crate) fn built_tarball() -> Result<String, Failed> {
    build()?;
    Ok(tarball())
}

/// Returns the tarball that `build` writes.
fn tarball() -> String {
    let name = concat!("flakeid-wasm-", env!("CARGO_PKG_VERSION"), ".tgz");
    root().join(DIST).join(name).display().to_string()
}

/// Checks the version that `package.json` must repeat.
pub(crate) fn check_version() -> Outcome {
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    if files::text("node/wasm/package.json")?.contains(version) {
        return Ok(());
    }
    Err(Failed(format!("node/wasm/package.json must contain {version}, as in Cargo.toml")))
}

/// Installs the tarball into an empty project, and runs the tests there in Node and in a browser.
pub(crate) fn test() -> Outcome {
    build()?;
    ensure_chromium()?;
    // The tests lease from a broker, which is a process of the command.
    let flakeid = workspace::build_programs(&["flakeid"])?.join("flakeid");
    files::empty(PROJECT)?;
    files::copy_files("node/wasm/test", PROJECT)?;
    files::copy_files("node/wasm/test/browser", &format!("{PROJECT}/wasm/browser"))?;
    files::copy_files("node/wasm/test/node", &format!("{PROJECT}/wasm"))?;
    files::copy_files("node/test", &format!("{PROJECT}/test"))?;
    in_project(&["ci", "--silent", "--ignore-scripts"]).run()?;
    in_project(&["install", "--silent", "--no-save", "--ignore-scripts", &tarball()]).run()?;
    // The two packages share this file, which imports its package by name.
    let types = files::text("node/test/types.ts")?.replace("'flakeid-core'", "'flakeid-wasm'");
    files::write(format!("{PROJECT}/test/types.ts"), types)?;
    let node = |arguments: &[&str]| Step::new("node", arguments).within(PROJECT);
    // The second configuration is that of a web page, without the types of Node.
    for types in ["test", "."] {
        node(&["node_modules/typescript/bin/tsc", "-p", types]).run()?;
    }
    let tests = [tests_below(PROJECT, "test")?, tests_below(PROJECT, "wasm")?].concat();
    node(&["--test"])
        .args(&tests.iter().map(String::as_str).collect::<Vec<_>>())
        .env("FLAKEID_PACKAGE", "flakeid-wasm")
        .env("FLAKEID_ROOT", root())
        .env("FLAKEID_COMMAND", flakeid)
        .run()
}

/// Ensures that Chromium is installed. The tests read the same environment variable.
pub(crate) fn ensure_chromium() -> Outcome {
    let chromium = env::var("FLAKEID_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    packages::ensure(&[(&chromium, "chromium")])
}

fn in_project(arguments: &[&str]) -> Step {
    npm(&["--prefix", PROJECT]).args(arguments)
}

/// Returns the benchmark, with the tarball and the rival installed.
pub(crate) fn bench() -> Result<Step, Failed> {
    build()?;
    files::empty(BENCH)?;
    files::copy_files("benches/wasm", BENCH)?;
    npm(&["--prefix", BENCH, "ci", "--silent", "--ignore-scripts"]).run()?;
    npm(&["--prefix", BENCH, "install", "--silent", "--no-save", "--ignore-scripts"])
        .args(&[&tarball()])
        .run()?;
    Ok(Step::new("node", &["bench.mjs"]).within(BENCH))
}
