//! The proof of the lease rule in tests/proof, and the comparison of the proof with the code.

use clap::Args;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Outcome, Step, files, workspace};

const FOLDER: &str = "tests/proof";

/// The options of the comparison.
#[derive(Args)]
pub(crate) struct Options {
    /// The number of random states.
    #[arg(long, default_value_t = 1_000_000)]
    states: u64,
    /// The seed of the states (default: another one in every run).
    #[arg(long)]
    seed: Option<u64>,
    /// Only write the translation of the proof's relations to Rust.
    #[arg(long)]
    write: bool,
}

/// Proves the lease rule, and compares random states: a million, or a hundred million in a full run.
pub(crate) fn test(full: bool) -> Outcome {
    let states = if full { 100_000_000 } else { 1_000_000 };
    run(&Options { states, seed: None, write: false })
}

pub(crate) fn run(options: &Options) -> Outcome {
    let venv = Venv::lasting("proof")?;
    venv.pip(&["install", "-q", "-r", &format!("{FOLDER}/requirements.txt")])?;
    // -B: Python must not write bytecode into the sources.
    let python = |file: &str, arguments: &[&str]| {
        let file = format!("{FOLDER}/{file}");
        venv.python(&["-B", &file])?.args(arguments).run()
    };
    if options.write {
        return python("rust.py", &["--write"]);
    }
    python("rust.py", &["--check"])?;
    python("prove.py", &[])?;
    let program = workspace::build_programs(&["flakeid-proof"])?.join("flakeid-proof");
    let seed = options.seed.map(|seed| seed.to_string());
    Step::new(&files::shown(&program)?, &[&options.states.to_string()])
        .args(&seed.iter().map(String::as_str).collect::<Vec<_>>())
        .run()
}
