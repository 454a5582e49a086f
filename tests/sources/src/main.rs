//! What no other linter checks of the sources: that modules do not use each other in circles, that
//! retired names do not come back, and that the workflows name versions and platforms.
//!
//! Its arguments are the platforms of a release. `cargo xtask lint` runs this.

mod circles;
mod retired_words;
mod tokens;
mod workflows;

use std::process::ExitCode;

use flakeid_steps::{Failed, Outcome, files};

/// Runs every check, also if an earlier one failed.
fn check(platforms: &[String]) -> Outcome {
    let sources = files::of_project()?;
    let checks =
        [retired_words::check(&sources), circles::check(&sources), workflows::check(platforms)];
    let failures: Vec<String> =
        checks.into_iter().filter_map(Result::err).map(|Failed(why)| why).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failed(failures.join("\n"))) }
}

fn main() -> ExitCode {
    let platforms: Vec<String> = std::env::args().skip(1).collect();
    match check(&platforms) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
