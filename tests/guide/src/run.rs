//! What the programs of the guide are run with, and for how long at most.

use std::path::PathBuf;

use clap::Args;
use flakeid_steps::Step;

/// What was built for the guide, and where.
#[derive(Args)]
pub(crate) struct Built {
    /// The folder of the C library, with `lib` and `include`.
    #[arg(long)]
    pub(crate) c_library: PathBuf,
    /// A Python that has the wheel and `examples/requirements.txt`.
    #[arg(long)]
    pub(crate) python: String,
    /// A folder with the files of `examples/fastify` and all that they need.
    #[arg(long)]
    pub(crate) node: String,
}

/// Where everything is built and run.
pub(crate) const WORK: &str = "target/docs";

/// A program that is stopped if it takes longer than two minutes.
pub(crate) fn bounded(program: &str, arguments: &[&str]) -> Step {
    Step::new("timeout", &["--kill-after=5", "120", program]).args(arguments)
}
