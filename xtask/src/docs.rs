//! The guide in `docs/`: that it builds, that its commands do what it says, and that its programs,
//! which are the files of `examples/`, start and make IDs.

mod book;
mod commands;
mod examples;
mod service;
mod stores;

use std::time::Instant;

use crate::command::{Outcome, Step};
use crate::platform::Target;
use crate::{c, packages};
use stores::Stores;

/// What runs the commands and the programs, besides what the other tests need as well.
const NEEDED: [(&str, &str); 6] = [
    ("timeout", "coreutils"),
    ("cc", "gcc"),
    ("pkg-config", "pkg-config"),
    ("go", "golang-go"),
    ("java", "openjdk-17-jdk-headless"),
    ("mvn", "maven"),
];

/// Where everything is built and run.
const WORK: &str = "target/docs";

/// Checks the whole guide.
pub(crate) fn check() -> Outcome {
    let start = Instant::now();
    packages::ensure(&stores::PROGRAMS)?;
    packages::ensure(&NEEDED)?;
    let chapters = book::read()?;
    book::build()?;
    Step::cargo(&["build", "--release", "--locked", "-p", "flakeid-cli"]).run()?;
    let library = c::installed(&Target::tested(None)?, &format!("{WORK}/c"))?;
    let stores = Stores::start()?;
    commands::run(&chapters, &library, &stores)?;
    examples::run(&stores)?;
    println!("\ncargo xtask docs: the guide is right ({:.0} s)", start.elapsed().as_secs_f32());
    Ok(())
}

/// A program that is stopped if it takes longer than two minutes.
fn bounded(program: &str, arguments: &[&str]) -> Step {
    Step::new("timeout", &["--kill-after=5", "120", program]).args(arguments)
}
