//! What no other linter checks of the sources: that modules do not use each other in circles, and that
//! retired names do not come back.

mod circles;
mod retired_words;
mod tokens;

use std::process::ExitCode;

use flakeid_steps::{Failed, files};

fn main() -> ExitCode {
    let checks = [retired_words::check, circles::check];
    let sources = files::of_project();
    let failures: Vec<String> = match sources {
        Ok(sources) => {
            checks.iter().filter_map(|check| check(&sources).err()).map(|Failed(why)| why).collect()
        }
        Err(Failed(why)) => vec![why],
    };
    if failures.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("{}", failures.join("\n"));
    ExitCode::FAILURE
}
