//! The page that explains IDs: one HTML file that contains the core as WebAssembly. Its sources
//! are in `bindings/page`, and `web/build.mjs` bundles them.

use flakeid_steps::{Outcome, Step, files, root, workspace};

use super::ensure_chromium;
use super::module::{self, GLUE, PAGE};
use crate::node::tests_below;
use crate::npm::npm;

/// The folder in which the page is built and tested, with the required packages.
const WORK: &str = "target/page";
pub(crate) const PAGE_FILE: &str = "target/dist/page/index.html";
/// The folder of the tests' screenshots. The guide contains two of them.
const SCREENSHOTS: &str = "target/page/screenshots";
const IN_GUIDE: [&str; 2] = ["page-id-wide-light", "page-many-phone-dark"];

pub(crate) fn build() -> Outcome {
    module::make(&[PAGE])?;
    files::empty(WORK)?;
    files::copy_folder("bindings/page/web", WORK)?;
    files::make_folder(format!("{WORK}/glue"))?;
    for name in [format!("{}.js", PAGE.name), format!("{}.wasm", PAGE.name)] {
        files::copy(format!("{GLUE}/{name}"), format!("{WORK}/glue/{name}"))?;
    }
    npm(&["--prefix", WORK, "ci", "--silent"]).run()?;
    files::make_folder("target/dist/page")?;
    let out = files::shown(&root().join(PAGE_FILE))?;
    let module = format!("glue/{}.wasm", PAGE.name);
    Step::new("node", &["build.mjs", &module, &out]).within(WORK).run()
}

/// Tests the page in Chromium. If `keeps` is set, retakes the guide's screenshots.
pub(crate) fn test(keeps: bool) -> Outcome {
    ensure_chromium()?;
    build()?;
    // One of the tests starts the command, which serves the page.
    let flakeid = workspace::build_programs(&["flakeid"])?.join("flakeid");
    files::copy_files("bindings/page/test", &format!("{WORK}/test"))?;
    if keeps {
        files::empty(SCREENSHOTS)?;
    }
    let tests = tests_below(WORK, "test")?;
    let run = Step::new("node", &["--test", "--test-concurrency=2"])
        .args(&tests.iter().map(String::as_str).collect::<Vec<_>>())
        .within(WORK)
        .env("FLAKEID_PAGE", root().join(PAGE_FILE))
        .env("FLAKEID_COMMAND", flakeid);
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
