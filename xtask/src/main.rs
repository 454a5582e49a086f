//! Every task of the project, so that people and CI run the same ones.

mod bench;
mod c;
mod campaign;
mod command;
mod docs;
mod files;
mod header;
mod lint;
mod linters;
mod node;
mod packages;
mod platform;
mod publish;
mod python;
mod readme;
mod test;
mod times;
mod venv;
mod wasm;
mod workflows;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{Failed, Outcome};
use platform::Target;
use publish::Registry;
use python::Wheel;

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
    /// Formatting, clippy on every feature set and every workspace, documentation, Python,
    /// JavaScript, the workflows; all without warnings.
    Lint,
    /// Format Rust, Python, JavaScript and TypeScript as lint wants it.
    Format,
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
        /// The platform, as a release is built for it: a triple of Rust.
        #[arg(long, conflicts_with = "bench")]
        target: Option<String>,
    },
    /// The Python package as a wheel and an sdist.
    Python {
        /// Install that wheel and run the Python tests with it.
        #[arg(long)]
        test: bool,
        /// Install that wheel and measure it next to the packages it competes with.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
        /// The platform, as a release is built for it: a triple of Rust.
        #[arg(long, conflicts_with = "bench")]
        target: Option<String>,
        /// For this interpreter, which has no GIL, and so without the stable ABI.
        #[arg(long, value_name = "INTERPRETER", conflicts_with = "bench")]
        free_threaded: Option<String>,
    },
    /// Write include/flakeid.h anew from the sources of the C library.
    Header,
    /// The npm package flakeid-wasm as a tarball.
    Wasm {
        /// Install that tarball and run the tests with it, in Node and in a browser.
        #[arg(long)]
        test: bool,
        /// Install that tarball and measure it next to its rival and its floors.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
    },
    /// The npm package flakeid-core and its package for this platform, as tarballs.
    Node {
        /// Install those tarballs and run the tests with them.
        #[arg(long)]
        test: bool,
        /// Install those tarballs and measure them next to the packages they compete with.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
        /// The platform, as a release is built for it: a triple of Rust.
        #[arg(long, conflicts_with = "bench")]
        target: Option<String>,
    },
    /// Fail unless a tag is of this version: v0.1.0, with a section in the changelog.
    Tag { tag: String },
    /// Publish what is in target/dist, or the crates.
    Publish {
        registry: Registry,
        /// All but the upload.
        #[arg(long)]
        dry_run: bool,
    },
    /// The benchmarks of every language against rivals and floors: writes benches/RESULTS.md and
    /// benches/results.svg.
    #[command(args_conflicts_with_subcommands = true)]
    Bench {
        #[command(flatten)]
        options: bench::Options,
        #[command(subcommand)]
        task: Option<bench::Task>,
    },
    /// Processes that lease nodes while everything around them fails; every ID is checked. The
    /// rest of the line goes to it.
    Campaign {
        /// Two of the processes are Python, with the wheel as it is now.
        #[arg(long)]
        with_python: bool,
        /// For example `--store sqlite --seconds 600`; `-- --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the guide (docs), run its commands, and start the examples that it quotes.
    Docs,
    /// Start a private server of every kind of store and keep it until Ctrl-C.
    Stores,
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Test => test::run(),
        Task::Lint => lint::run(),
        Task::Format => lint::format(),
        Task::Msrv => lint::msrv(),
        Task::C { bench: true, .. } => c::bench()?.run(),
        Task::C { test, target, .. } => {
            let target = target.as_deref();
            if test { c::test(&Target::tested(target)?) } else { c::build(&Target::new(target)?) }
        }
        Task::Header => header::write(),
        Task::Python { bench: true, .. } => python::bench()?.run(),
        Task::Python { test, target, free_threaded, .. } => {
            let target = target.as_deref();
            let target = if test { Target::tested(target)? } else { Target::new(target)? };
            let wheel = Wheel { target, free_threaded: free_threaded.as_deref() };
            if test { python::test(&wheel) } else { python::build(&wheel) }
        }
        Task::Wasm { bench: true, .. } => wasm::bench()?.run(),
        Task::Wasm { test: false, .. } => wasm::build(),
        Task::Wasm { test: true, .. } => wasm::test(),
        Task::Node { bench: true, .. } => node::bench()?.run(),
        Task::Node { test, target, .. } => {
            let target = target.as_deref();
            if test {
                node::test(&Target::tested(target)?)
            } else {
                node::build(&Target::new(target)?)
            }
        }
        Task::Tag { tag } => publish::check_tag(&tag),
        Task::Publish { registry, dry_run } => publish::run(registry, dry_run),
        Task::Bench { options, task } => bench::run(&options, task.as_ref()),
        Task::Campaign { with_python, arguments } => campaign::run(with_python, &arguments),
        Task::Docs => docs::check(),
        Task::Stores => campaign::stores(),
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
