//! Every task of the project, so that people and CI run the same ones.

mod bench;
mod c;
mod command;
mod header;
mod lint;
mod node;
mod packages;
mod python;
mod readme;
mod test;
mod wasm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::Failed;

/// Tasks of the flakeid project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must pass before a change lands: lint, all tests, loom models, vectors,
    /// README.
    Test,
    /// Formatting, clippy on every feature set, documentation; all without warnings.
    Lint,
    /// Build the workspace with exactly the oldest compiler it promises (rust-version).
    Msrv,
    /// The C library as an archive: both libraries, the headers, files for build systems.
    C {
        /// Install that archive and run the tests in C, C++, Go and Java against it.
        #[arg(long)]
        test: bool,
        /// Measure the border beside the same loops in Rust.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
    },
    /// The Python package as a wheel and an sdist.
    Python {
        /// Install that wheel and run the Python tests with it.
        #[arg(long)]
        test: bool,
        /// Install that wheel and measure it next to the packages it competes with.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
    },
    /// Write include/flakeid.h anew from the sources of the C library.
    Header,
    /// The npm package flakeid-wasm as a tarball.
    Wasm {
        /// Install that tarball and run the tests with it, in Node and in a browser.
        #[arg(long)]
        test: bool,
    },
    /// The npm package flakeid-core and its package for this platform, as tarballs.
    Node {
        /// Install those tarballs and run the tests with them.
        #[arg(long)]
        test: bool,
        /// Install those tarballs and measure them next to the packages they compete with.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
    },
    /// The benchmarks against rivals and the floor; the rest of the line goes to them.
    Bench {
        /// For example `--quick`, or `--only threads`; `-- --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test => test::run(),
        Task::Lint => lint::run(),
        Task::Msrv => lint::msrv(),
        Task::C { test: true, .. } => c::test(),
        Task::C { bench: true, .. } => c::bench(),
        Task::C { .. } => c::build(),
        Task::Header => header::write(),
        Task::Python { test: true, .. } => python::test(),
        Task::Python { bench: true, .. } => python::bench(),
        Task::Python { .. } => python::build(),
        Task::Wasm { test: false } => wasm::build(),
        Task::Wasm { test: true } => wasm::test(),
        Task::Node { test: true, .. } => node::test(),
        Task::Node { bench: true, .. } => node::bench(),
        Task::Node { .. } => node::build(),
        Task::Bench { arguments } => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
