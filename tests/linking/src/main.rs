//! Tests that other languages can link the C library: they link programs in C, C++, Go and Java
//! with an unpacked archive. `cargo xtask c --test` builds the archive and runs this program.

mod programs;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use clap::Parser;
use flakeid_linking::{Library, NEEDED, NEEDED_FOR_JAVA};
use flakeid_steps::{Failed, Outcome, files, packages, root};

/// Links programs with the C library and runs them.
#[derive(Parser)]
struct Arguments {
    /// The folder of the library, with `lib` and `include`.
    #[arg(long)]
    library: PathBuf,
    /// Only build the jar for Java, and write it to this path.
    #[arg(long)]
    jar: Option<PathBuf>,
    /// Only test the jar for Java.
    #[arg(long, conflicts_with = "jar")]
    only_java: bool,
}

fn run(arguments: Arguments) -> Outcome {
    let library = Library { prefix: arguments.library, work: root().join("target/c") };
    if arguments.only_java {
        packages::ensure(NEEDED_FOR_JAVA)?;
        return programs::java(&library);
    }
    packages::ensure(NEEDED)?;
    programs::sanitizers_of_clang()?;
    if let Some(to) = arguments.jar {
        return files::copy(flakeid_linking::jar(&library)?, to);
    }
    programs::symbols(&library)?;
    programs::static_executables(&library)?;
    // Two threads suffice, because the programs mostly wait: the clock limits ten million IDs to at
    // least 2.5 s.
    thread::scope(|scope| {
        let c = scope.spawn(|| programs::c(&library));
        let others = programs::cpp(&library)
            .and_then(|()| programs::go(&library))
            .and_then(|()| programs::java(&library));
        let panicked = |_| Failed("the thread of the programs in C panicked".to_owned());
        c.join().map_err(panicked)?.and(others)
    })
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("flakeid-linking: {why}");
            ExitCode::FAILURE
        }
    }
}
