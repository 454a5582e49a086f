//! The parts of the npm package flakeid-core for runtimes without the add-on: the `WebAssembly` modules, which are
//! compiled and optimized, and their JavaScript. The package is tested in packed form, in Node and in a browser.

mod compiler;
mod module;
pub(crate) mod page;

use std::env;

use flakeid_steps::{Failed, Outcome, Step, files, packages, root, workspace};

use crate::es_module::{Runtime, as_es_module};
use crate::node::{self, tests_below};
use crate::npm::{esbuild, npm};
use module::{GLUE, MODULES, Module};

pub(crate) use module::{for_go, lint};

/// The files of the package before packing.
pub(crate) const PACKAGE: &str = "target/wasm/flakeid-core";
/// The folder of the tarball without the packages of platforms.
const PACKED: &str = "target/wasm/packed";
/// The folder of a user's project, in which the tests run.
const PROJECT: &str = "target/wasm/project";
const BENCH: &str = "target/wasm/bench";
/// The check of a compiled module in the JavaScript of wasm-bindgen, and one that recognizes modules that the edge
/// runtime of Next.js has compiled outside the realm of the program.
const OF_REALM: &str = "(module instanceof WebAssembly.Module)";
const OF_ANY_REALM: &str =
    "(Object.prototype.toString.call(module) === '[object WebAssembly.Module]')";
/// The files of `node/lib` that only the add-on uses.
const NATIVE: [&str; 3] = ["addon.js", "platform.js", "native.js"];
/// The files that only the entry for Node uses, which is bundled.
const OF_NODE: [&str; 2] = ["node.mjs", "threads.js"];

/// Writes the `WebAssembly` modules and the entries of all runtimes to the folder of the package.
pub(crate) fn add_to(package: &str) -> Outcome {
    module::make(&MODULES)?;
    let folder = format!("{package}-wasm");
    files::empty(&folder)?;
    files::copy_files("node/runtimes", &folder)?;
    for name in files::names("node/lib")?.iter().filter(|name| !NATIVE.contains(&name.as_str())) {
        let source = files::text(format!("node/lib/{name}"))?;
        files::write(format!("{folder}/{name}"), as_es_module(name, &source, Runtime::Web)?)?;
    }
    for Module { name, .. } in MODULES {
        files::copy(format!("{GLUE}/{name}.wasm"), format!("{folder}/{name}.wasm"))?;
        // Copies of the same version share one instance by this symbol.
        let instance = concat!(
            "\nexport const INSTANCE = Symbol.for('flakeid ",
            env!("CARGO_PKG_VERSION"),
            "');\n"
        );
        let glue = files::text(format!("{GLUE}/{name}.js"))?;
        if !glue.contains(OF_REALM) {
            return Err(Failed(format!("{GLUE}/{name}.js must contain: {OF_REALM}")));
        }
        let glue = glue.replace(OF_REALM, OF_ANY_REALM) + instance;
        files::write(format!("{folder}/{name}.js"), glue)?;
    }
    // Vercel and Next.js compile a file that is imported with this suffix.
    let edge = files::text("node/runtimes/workerd.mjs")?.replace(".wasm'", ".wasm?module'");
    files::write(format!("{folder}/edge.mjs"), edge)?;
    let names = files::text("node/index.mjs")?;
    for runtime in ["browser", "workerd", "edge"] {
        let entry = names.replace("./index.js", &format!("./{runtime}.mjs"));
        files::write(format!("{folder}/{runtime}-entry.mjs"), entry)?;
    }
    files::write(format!("{package}/wasm.mjs"), names.replace("./index.js", "./wasm.js"))?;
    files::write(format!("{folder}/package.json"), "{ \"type\": \"module\" }\n")?;
    let (entry, out) = (format!("{folder}/node.mjs"), format!("--outfile={package}/wasm.js"));
    esbuild(&[&entry, "--bundle", "--platform=node", "--target=node20", "--format=cjs", &out])?
        .args(&["--log-level=warning", "--charset=utf8", "--banner:js='use strict';"])
        .args(&["--log-override:commonjs-variable-in-esm=silent"])
        .args(&["--log-override:empty-import-meta=silent"])
        .run()?;
    for name in files::names(&folder)?.iter().filter(|name| !OF_NODE.contains(&name.as_str())) {
        files::copy(format!("{folder}/{name}"), format!("{package}/wasm/{name}"))?;
    }
    Ok(())
}

/// Packs the package without those of platforms, and returns the path of its tarball.
pub(crate) fn build() -> Result<String, Failed> {
    files::empty(PACKED)?;
    node::assemble(PACKAGE)?;
    add_to(PACKAGE)?;
    npm(&["pack", "--silent", "--pack-destination", PACKED, &format!("./{PACKAGE}")]).run()?;
    let name = concat!("flakeid-core-", env!("CARGO_PKG_VERSION"), ".tgz");
    Ok(root().join(PACKED).join(name).display().to_string())
}

/// Installs the tarball into an empty project, and runs the tests there in Node and in a browser.
pub(crate) fn test() -> Outcome {
    let tarball = build()?;
    ensure_chromium()?;
    // The tests lease from a broker, which is a process of the command.
    let flakeid = workspace::build_programs(&["flakeid"])?.join("flakeid");
    files::empty(PROJECT)?;
    files::copy_files("node/wasm/test", PROJECT)?;
    files::copy_files("node/wasm/test/browser", &format!("{PROJECT}/wasm/browser"))?;
    files::copy_files("node/wasm/test/node", &format!("{PROJECT}/wasm"))?;
    files::copy_files("node/test", &format!("{PROJECT}/test"))?;
    let install = npm(&["--prefix", PROJECT]);
    install.args(&["ci", "--silent", "--ignore-scripts"]).run()?;
    npm(&["--prefix", PROJECT, "install", "--silent", "--no-save", "--ignore-scripts"])
        .args(&["--omit=optional", &tarball])
        .run()?;
    let node = |arguments: &[&str]| Step::new("node", arguments).within(PROJECT);
    // The second configuration is that of a web page, without the types of Node.
    for types in ["test", "."] {
        node(&["node_modules/typescript/bin/tsc", "-p", types]).run()?;
    }
    let tests = [tests_below(PROJECT, "test")?, tests_below(PROJECT, "wasm")?].concat();
    node(&["--test"])
        .args(&tests.iter().map(String::as_str).collect::<Vec<_>>())
        .env("FLAKEID_PACKAGE", "flakeid-core/wasm")
        .env("FLAKEID_ROOT", root())
        .env("FLAKEID_COMMAND", flakeid)
        .run()
}

/// Ensures that Chromium is installed. The tests read the same environment variable.
pub(crate) fn ensure_chromium() -> Outcome {
    let chromium = env::var("FLAKEID_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    packages::ensure(&[(&chromium, "chromium")])
}

/// Returns the benchmark, with the tarball and the rival installed.
pub(crate) fn bench() -> Result<Step, Failed> {
    let tarball = build()?;
    files::empty(BENCH)?;
    files::copy_files("benches/wasm", BENCH)?;
    npm(&["--prefix", BENCH, "ci", "--silent", "--ignore-scripts"]).run()?;
    npm(&["--prefix", BENCH, "install", "--silent", "--no-save", "--ignore-scripts"])
        .args(&["--omit=optional", &tarball])
        .run()?;
    Ok(Step::new("node", &["bench.mjs"]).within(BENCH))
}
