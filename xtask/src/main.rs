//! Every task of the project, so that people and CI run the same ones.

mod bench;
mod c;
mod campaign;
mod deploy;
mod docs;
mod go;
mod header;
mod jar;
mod java;
mod lint;
mod linters;
mod miri;
mod mysql;
mod node;
mod npm;
mod platform;
mod platforms;
mod publish;
mod python;
mod rivals;
mod server_packages;
mod test;
mod wasm;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use flakeid_steps::{Choice, Failed, Outcome, Step};

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

/// What can be done with a package.
#[derive(Args)]
struct Package {
    /// Install what was built and run that language's tests with it.
    #[arg(long)]
    test: bool,
    /// Measure what was built beside its rivals and floors.
    #[arg(long, conflicts_with = "test")]
    bench: bool,
    /// The platform, as a release is built for it: a triple of Rust.
    #[arg(long, conflicts_with = "bench")]
    target: Option<String>,
}

impl Package {
    /// Measures, tests or builds.
    fn run(
        &self,
        bench: fn() -> Result<Step, Failed>,
        test: impl FnOnce(&Target) -> Outcome,
        build: impl FnOnce(&Target) -> Outcome,
    ) -> Outcome {
        let target = self.target.as_deref();
        if self.bench {
            bench()?.run()
        } else if self.test {
            test(&Target::tested(target)?)
        } else {
            build(&Target::new(target)?)
        }
    }
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must pass before a change lands: lint, all tests, loom models, vectors,
    /// README.
    Test(Choice),
    /// Formatting, clippy on every feature set and every workspace, documentation, Python,
    /// JavaScript, the workflows, names, circles between modules; all without warnings.
    Lint {
        /// Only what needs no compiled code, in a few seconds.
        #[arg(long)]
        sources: bool,
    },
    /// Format Rust, Python, JavaScript and TypeScript as lint wants it.
    Format,
    /// Build the workspace with exactly the oldest compiler it promises (rust-version).
    Msrv,
    /// The C library as an archive: both libraries, the headers, files for build systems.
    C(Package),
    /// The jar for Java, with the C library for this system inside.
    Java {
        /// Only the native part for this platform: a triple of Rust, as of a release, but
        /// `x86_64-pc-windows-gnu` for Windows.
        #[arg(long)]
        target: Option<String>,
        /// The jar for all platforms, of the native parts in this folder, and what Maven Central wants besides.
        #[arg(long, value_name = "FOLDER", conflicts_with = "target")]
        natives: Option<PathBuf>,
    },
    /// The Python package as a wheel and an sdist.
    Python {
        #[command(flatten)]
        package: Package,
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
    /// The core, leases, the command and programs in C for other systems, three of them emulated.
    Platforms {
        /// Only this one (may be given more than once).
        #[arg(long, value_name = "SYSTEM")]
        only: Vec<platforms::Emulated>,
    },
    /// The page that explains IDs, as one HTML file: target/dist/page/index.html.
    Page {
        /// Drive it in Chromium.
        #[arg(long)]
        test: bool,
        /// The same, and take the guide's screenshots anew.
        #[arg(long)]
        screenshots: bool,
    },
    /// The npm package flakeid-core and its package for this platform, as tarballs.
    Node(Package),
    /// A static executable of the command, and what an image of it is built from.
    Image {
        /// Run it where there is nothing else, as in the image. Only root may.
        #[arg(long, conflicts_with = "target")]
        test: bool,
        /// One of the platforms with musl; x86_64-unknown-linux-musl if none is named.
        #[arg(long)]
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
        /// For example `--store sqlite --seconds 600`, or `--for 4h --summary FILE`, which can be
        /// interrupted and started again; `-- --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure how long processes are without IDs when their store restarts or fails over: about eight
    /// minutes, on private servers.
    Failover {
        /// For example `--only etcd`, or `--excluded` for what is not promised; `-- --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the guide (docs), run its commands, and start the examples that it quotes.
    Docs,
    /// The tests of leases and SQL that hold for `MySQL`, on its own packages instead of `MariaDB`'s. Fetches
    /// them from Debian's unstable release, and installs nothing.
    Mysql,
    /// Tests of the core and of leases, interpreted by Miri, which stops at undefined behaviour.
    Miri,
    /// Start a private server of every kind of store and keep it until Ctrl-C.
    Stores,
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Test(choice) => test::run(choice),
        Task::Lint { sources: true } => lint::sources(),
        Task::Lint { sources: false } => lint::run(),
        Task::Format => lint::format(),
        Task::Msrv => lint::msrv(),
        Task::C(package) => package.run(c::bench, c::test, c::build),
        Task::Java { target: Some(triple), .. } => jar::native(&triple),
        Task::Java { natives: Some(folder), .. } => jar::release(&folder),
        Task::Java { .. } => jar::build(),
        Task::Header => header::write(),
        Task::Python { package, free_threaded } => {
            let wheel = |target: &Target| Wheel {
                target: *target,
                free_threaded: free_threaded.as_deref(),
            };
            package.run(
                python::bench,
                |target| python::test(&wheel(target)),
                |target| python::build(&wheel(target)),
            )
        }
        Task::Wasm { bench: true, .. } => wasm::bench()?.run(),
        Task::Wasm { test: true, .. } => wasm::test(),
        Task::Wasm { .. } => wasm::build(),
        Task::Platforms { only } => platforms::run(&only),
        Task::Page { test: false, screenshots: false } => wasm::page::build(),
        Task::Page { screenshots, .. } => wasm::page::test(screenshots),
        Task::Node(package) => package.run(node::bench, node::test, node::build),
        Task::Image { test: true, .. } => deploy::test_image(),
        Task::Image { target, .. } => deploy::image(target.as_deref()),
        Task::Tag { tag } => publish::check_tag(&tag),
        Task::Publish { registry, dry_run } => publish::run(registry, dry_run),
        Task::Bench { options, task } => bench::run(&options, task.as_ref()),
        Task::Campaign { with_python, arguments } => campaign::run(with_python, &arguments),
        Task::Failover { arguments } => campaign::failover(&arguments),
        Task::Docs => docs::check(),
        Task::Miri => miri::run(),
        Task::Mysql => mysql::test(),
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
