//! The page: one HTML file that explains IDs, with the core inside as WebAssembly. Its sources are in
//! `bindings/page`; `web/build.mjs` puts them together.

use flakeid_steps::{Outcome, Step, files, root};

use super::ensure_chromium;
use super::module::{self, GLUE, PAGE};
use crate::node::tests_below;
use crate::npm::npm;

/// Where it is built and tested, with the packages that this needs.
const WORK: &str = "target/page";
pub(crate) const PAGE_FILE: &str = "target/dist/page/index.html";
/// Made by the tests; two of them are in the guide.
const SCREENSHOTS: &str = "target/page/screenshots";
const IN_GUIDE: [&str; 2] = ["page-id-wide-light", "page-many-phone-dark"];

pub(crate) fn build() -> Outcome {
    module::make(&[PAGE])?;
    files::empty(WORK)?;
    files::copy_folder("bindings/page/web", WORK)?;
    files::make_folder(format!("{WORK}/glue"))?;
    // The optimised module is that of Node; both are the same.
    for (folder, name) in
        [("web", format!("{}.js", PAGE.name)), ("node", format!("{}_bg.wasm", PAGE.name))]
    {
        files::copy(format!("{GLUE}/{folder}/{name}"), format!("{WORK}/glue/{name}"))?;
    }
    npm(&["--prefix", WORK, "ci", "--silent"]).run()?;
    files::make_folder("target/dist/page")?;
    let out = files::shown(&root().join(PAGE_FILE))?;
    let module = format!("glue/{}_bg.wasm", PAGE.name);
    Step::new("node", &["build.mjs", &module, &out]).within(WORK).run()
}

/// Drives the page in Chromium; `keeps` the screenshots for the guide.
pub(crate) fn test(keeps: bool) -> Outcome {
    ensure_chromium()?;
    build()?;
    // It serves the page in one of the tests.
    Step::cargo(&["build", "--release", "--locked", "-p", "flakeid-cli"]).run()?;
    files::copy_files("bindings/page/test", &format!("{WORK}/test"))?;
    if keeps {
        files::empty(SCREENSHOTS)?;
    }
    let tests = tests_below(WORK, "test")?;
    // Not one beside the other: one of them measures.
    let run = Step::new("node", &["--test", "--test-concurrency=1"])
        .args(&tests.iter().map(String::as_str).collect::<Vec<_>>())
        .within(WORK)
        .env("FLAKEID_PAGE", root().join(PAGE_FILE))
        .env("FLAKEID_COMMAND", root().join("target/release/flakeid"));
    let run = if keeps { run.env("FLAKEID_SCREENSHOTS", root().join(SCREENSHOTS)) } else { run };
    run.run()?;
    if keeps {
        for name in IN_GUIDE {
            let to = format!("docs/src/images/{name}.png");
            files::copy(format!("{SCREENSHOTS}/{name}.png"), to)?;
        }
    }
    Ok(())
}
