//! The packed module next to its rival and its floors.

use super::package::{self, tarball};
use crate::command::{Failed, Step};
use crate::files;
use crate::node::npm;

const PROJECT: &str = "target/wasm/bench";

/// What measures the tarball, installed beside the rival.
pub(crate) fn bench() -> Result<Step, Failed> {
    package::build()?;
    files::empty(PROJECT)?;
    files::copy_files("benches/wasm", PROJECT)?;
    npm(&["--prefix", PROJECT, "ci", "--silent", "--ignore-scripts"]).run()?;
    npm(&["--prefix", PROJECT, "install", "--silent", "--no-save", "--ignore-scripts"])
        .args(&[&tarball()])
        .run()?;
    Ok(Step::new("node", &["bench.mjs"]).within(PROJECT))
}
