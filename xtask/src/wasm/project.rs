//! A user's project: the tarball installed into it, and the tests run there.

use super::package::{self, DIST, copy_all, make_folder, npm, remove, text, write};
use crate::command::{Outcome, Step, root};
use crate::packages;

const PROJECT: &str = "target/wasm/project";

/// Installs the tarball into an empty project and runs the tests there, in Node and in a browser.
pub(crate) fn test() -> Outcome {
    package::build()?;
    packages::ensure(&[("/usr/bin/chromium", "chromium")])?;
    remove(PROJECT)?;
    for folder in ["test", "wasm", "wasm/browser"] {
        make_folder(&format!("{PROJECT}/{folder}"))?;
    }
    copy_all("node/wasm/test", PROJECT)?;
    copy_all("node/wasm/test/browser", &format!("{PROJECT}/wasm/browser"))?;
    copy_all("node/wasm/test/node", &format!("{PROJECT}/wasm"))?;
    copy_all("node/test", &format!("{PROJECT}/test"))?;
    let tarball = concat!("flakeid-wasm-", env!("CARGO_PKG_VERSION"), ".tgz");
    let tarball = root().join(DIST).join(tarball).display().to_string();
    in_project(&["ci", "--silent", "--ignore-scripts"]).run()?;
    in_project(&["install", "--silent", "--no-save", "--ignore-scripts", &tarball]).run()?;
    // The same file as for flakeid-core, under this package's name.
    let types = text("node/test/types.ts")?.replace("'flakeid-core'", "'flakeid-wasm'");
    write(&format!("{PROJECT}/test/types.ts"), &types)?;
    Step::new("env", &["-C", PROJECT, "node", "node_modules/typescript/bin/tsc", "-p", "test"])
        .run()?;
    let root = root();
    let tests = Step::new("env", &["-C", PROJECT, "node", "--test"]);
    tests
        .args(&["test/", "wasm/"])
        .env("FLAKEID_PACKAGE", "flakeid-wasm")
        .env("FLAKEID_ROOT", &root)
        .run()
}

fn in_project(arguments: &[&str]) -> Step {
    npm(&["--prefix", PROJECT]).args(arguments)
}
