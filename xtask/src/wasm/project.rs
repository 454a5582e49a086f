//! A user's project: the tarball installed into it, and the tests run there.

use std::env;

use super::package::{self, tarball};
use crate::command::{Outcome, Step, root};
use crate::files;
use crate::node::{npm, tests_below};
use crate::packages;

const PROJECT: &str = "target/wasm/project";

/// Installs the tarball into an empty project and runs the tests there, in Node and in a browser.
pub(crate) fn test() -> Outcome {
    package::build()?;
    // The tests read it too.
    let chromium = env::var("FLAKEID_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    packages::ensure(&[(&chromium, "chromium")])?;
    files::empty(PROJECT)?;
    files::copy_files("node/wasm/test", PROJECT)?;
    files::copy_files("node/wasm/test/browser", &format!("{PROJECT}/wasm/browser"))?;
    files::copy_files("node/wasm/test/node", &format!("{PROJECT}/wasm"))?;
    files::copy_files("node/test", &format!("{PROJECT}/test"))?;
    in_project(&["ci", "--silent", "--ignore-scripts"]).run()?;
    in_project(&["install", "--silent", "--no-save", "--ignore-scripts", &tarball()]).run()?;
    // The same file as for flakeid-core, under this package's name.
    let types = files::text("node/test/types.ts")?.replace("'flakeid-core'", "'flakeid-wasm'");
    files::write(format!("{PROJECT}/test/types.ts"), types)?;
    let node = |arguments: &[&str]| Step::new("node", arguments).within(PROJECT);
    node(&["node_modules/typescript/bin/tsc", "-p", "test"]).run()?;
    let tests = [tests_below(PROJECT, "test")?, tests_below(PROJECT, "wasm")?].concat();
    node(&["--test"])
        .args(&tests.iter().map(String::as_str).collect::<Vec<_>>())
        .env("FLAKEID_PACKAGE", "flakeid-wasm")
        .env("FLAKEID_ROOT", root())
        .run()
}

fn in_project(arguments: &[&str]) -> Step {
    npm(&["--prefix", PROJECT]).args(arguments)
}
