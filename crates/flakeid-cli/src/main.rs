//! The program `flakeid`, which runs the command of this crate's library.

use std::process::ExitCode;

fn main() -> ExitCode {
    flakeid_cli::run(std::env::args_os()).into()
}
