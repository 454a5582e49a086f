//! The project's own lints: the English follows the style guide, public types have examples, the guide
//! lists all environment variables and all error codes, and the workflows pin versions and list all
//! platforms.
//!
//! `cargo xtask lint` runs all lints; its arguments are the platforms of a release. `--write-errors`
//! writes the pages of the guide that list the error codes.

mod english;
mod environment;
mod examples;
mod messages;
mod workflows;

use std::process::ExitCode;

use flakeid_steps::{Failed, Outcome, files};

/// Runs every check, even if an earlier one failed.
fn check(platforms: &[String]) -> Outcome {
    let sources = files::of_project()?;
    let checks = [
        english::check(&sources),
        environment::check(&sources),
        examples::check(&sources),
        messages::check(&sources),
        workflows::check(platforms),
    ];
    let failures: Vec<String> =
        checks.into_iter().filter_map(Result::err).map(|Failed(why)| why).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failed(failures.join("\n"))) }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((option, [])) if option == "--write-errors" => messages::write(),
        _ => check(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
