//! The tasks of the project, which developers and CI run in the same way.

mod api;
mod api_references;
mod archive;
mod bench;
mod c;
mod campaign;
mod command;
mod deploy;
mod docs;
mod es_module;
mod fuzz;
mod go;
mod header;
mod installers;
mod jar;
mod java;
mod kubernetes;
mod lint;
mod linters;
mod miri;
mod mysql;
mod node;
mod npm;
mod options;
mod platform;
mod platforms;
mod proof;
mod publish;
mod python;
mod recipes;
mod rehearsal;
mod restores;
mod rivals;
mod sbom;
mod server_checks;
mod server_packages;
mod simulation;
mod test;
mod toolchains;
mod tutorials;
mod wasm;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use flakeid_steps::plan::Choice;
use flakeid_steps::{Failed, Outcome, Step};

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

/// Actions on a package.
#[derive(Args)]
struct Package {
    /// Install the built package, and run the tests of its language with it.
    #[arg(long)]
    test: bool,
    /// Benchmark the built package next to its rivals and floors.
    #[arg(long, conflicts_with = "test")]
    bench: bool,
    /// The platform to build for, as in a release: a Rust target triple.
    #[arg(long, conflicts_with = "bench")]
    target: Option<String>,
}

impl Package {
    /// Runs the chosen action: benchmark, test or build.
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
    /// Run the tests of every language with every kind of server, loom models, proof and README. Prints first which
    /// steps run, how long each took last time, and what is installed.
    Test(Choice),
    /// Check formatting, Rust, the documentation, Python, JavaScript, workflows, English, examples and the lists of
    /// public items. Warnings are errors.
    Lint {
        /// Run only the checks that need no compiled code. They take a few seconds.
        #[arg(long)]
        sources: bool,
        /// Also check other features, WebAssembly and the other workspaces. Takes minutes.
        #[arg(long, conflicts_with = "sources")]
        full: bool,
    },
    /// Format Rust, Python, JavaScript, TypeScript and Go as the linters expect.
    Format,
    /// Build the workspace with the oldest supported compiler (`rust-version`).
    Msrv,
    /// List the public items of the crates for users, in their `api.txt`.
    Api,
    /// Build the archive of the C library: both libraries, the headers, and files for build
    /// systems.
    C(Package),
    /// Check the sizes of the static libraries for C, and install the archive with Conan, and with
    /// the vcpkg in the folder `VCPKG_ROOT`.
    Recipes {
        /// Check only this part (may be given more than once).
        #[arg(long, value_name = "PART")]
        only: Vec<recipes::Part>,
    },
    /// Build the Go module with everything that `go get` must download: the C library translated to
    /// Go, and slim static libraries for Linux. Writes a module proxy to target/dist/go/proxy.
    Go {
        /// Run the module's tests without cgo, and a program in an empty folder with the module.
        #[arg(long)]
        test: bool,
        /// Take the static libraries from the archives of the C library in this folder.
        #[arg(long, value_name = "FOLDER", conflicts_with = "test")]
        archives: Option<PathBuf>,
    },
    /// Build the jar for Java, with the C library for this system inside.
    Java {
        /// Test a jar that is built with the profile of the tests.
        #[arg(long, conflicts_with_all = ["target", "natives"])]
        test: bool,
        /// Build only the native part for this platform: a Rust target triple, as in a release, but
        /// `x86_64-pc-windows-gnu` for Windows.
        #[arg(long)]
        target: Option<String>,
        /// Build the jar for all platforms from the native parts in this folder, and the other
        /// files that Maven Central requires.
        #[arg(long, value_name = "FOLDER", conflicts_with = "target")]
        natives: Option<PathBuf>,
    },
    /// Build the Python package as a wheel and an sdist.
    Python {
        #[command(flatten)]
        package: Package,
        /// Build for this free-threaded interpreter (without the GIL), and so without the stable
        /// ABI.
        #[arg(long, value_name = "INTERPRETER", conflicts_with = "bench")]
        free_threaded: Option<String>,
    },
    /// Generate include/flakeid.h from the sources of the C library.
    Header,
    /// Generate what lists options in every language and in the documents from options.toml.
    Options,
    /// Generate the guide's pages of error codes and messages from errors.toml.
    Errors,
    /// Build the npm package flakeid-core without the packages of platforms.
    Wasm {
        /// Install the tarball, and run the tests with it in Node and in a browser.
        #[arg(long)]
        test: bool,
        /// Install the tarball, and benchmark it next to its rival and its floors.
        #[arg(long, conflicts_with = "test")]
        bench: bool,
    },
    /// Test the core, leases, the command and programs in C on other systems. Three of the systems
    /// are emulated.
    Platforms {
        /// Test only this system (may be given more than once).
        #[arg(long, value_name = "SYSTEM")]
        only: Vec<platforms::Emulated>,
    },
    /// Build the page that explains IDs, as one HTML file: target/dist/page/index.html.
    Page {
        /// Test the page in Chromium.
        #[arg(long)]
        test: bool,
        /// Test the page in Chromium, and retake the guide's screenshots.
        #[arg(long)]
        screenshots: bool,
    },
    /// Build the npm package flakeid-core and its package for this platform, as tarballs.
    Node(Package),
    /// Test the npm packages in bundlers, frameworks, test runners and other runtimes. Takes about
    /// ten minutes.
    Toolchains {
        /// Test only this toolchain (may be given more than once).
        #[arg(long, value_name = "TOOLCHAIN")]
        only: Vec<toolchains::Toolchain>,
    },
    /// Build a static executable of the command, and the build context of a container image.
    Image {
        /// Run the executable in an otherwise empty file system, as in the image. Requires root.
        #[arg(long, conflicts_with = "target")]
        test: bool,
        /// Build for this platform with musl (default: x86_64-unknown-linux-musl).
        #[arg(long)]
        target: Option<String>,
    },
    /// Build the archive of the command, and the script that installs it.
    Command {
        /// Build for this platform (default: x86_64-unknown-linux-musl).
        #[arg(long)]
        target: Option<String>,
    },
    /// Rehearse a release: build every package that this machine can build, publish the packages for
    /// this machine to local registries, and install them from there in empty folders. Prints the
    /// sizes and hashes.
    Rehearse {
        /// Rehearse only this part (may be given more than once).
        #[arg(long, value_name = "PART")]
        only: Vec<rehearsal::Part>,
        /// Compare the hashes with those of another rehearsal: its target/rehearsal/SHA256SUMS.
        #[arg(long, value_name = "FILE")]
        compare: Option<PathBuf>,
    },
    /// Check that a tag has this version, such as v0.1.0, and that the changelog has its section.
    Tag { tag: String },
    /// Publish the packages in target/dist, or the crates.
    Publish {
        registry: Registry,
        /// Do everything except the upload.
        #[arg(long)]
        dry_run: bool,
    },
    /// Write packages for Debian and RPM, the formula for Homebrew, and the manifests for winget to
    /// target/dist/installers.
    Installers {
        /// The folder with the archives of the command for all platforms.
        #[arg(long, value_name = "FOLDER")]
        archives: PathBuf,
        /// Skip the installers of missing archives.
        #[arg(long)]
        partial: bool,
    },
    /// Write software bills of materials (`CycloneDX`) for the command and the libraries to
    /// target/dist/sbom. The wheels contain their own.
    Sbom,
    /// Benchmark every language against rivals and floors. Writes benches/RESULTS.md and
    /// benches/results.svg.
    #[command(args_conflicts_with_subcommands = true)]
    Bench {
        #[command(flatten)]
        options: bench::Options,
        #[command(subcommand)]
        task: Option<bench::Task>,
    },
    /// Run processes that lease nodes while everything around them fails, and check every ID. The
    /// remaining arguments are passed to the campaign.
    Campaign {
        /// Run two of the processes in Python, with the current wheel.
        #[arg(long)]
        with_python: bool,
        /// For example `--store sqlite --seconds 600`, or `--for 4h --summary FILE`, which can be
        /// interrupted and restarted; `-- --help` lists the options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Restore copies into other places, and pause processes between their reads and their writes: 300 times each on
    /// `dynamodb`, `s3`, `mysql` and `kubernetes`. Earlier rules must then repeat ticks within 50 times. Takes half an
    /// hour.
    Restores {
        /// Only check that the earlier rules repeat ticks.
        #[arg(long)]
        mutants: bool,
        /// Only these stores.
        stores: Vec<String>,
    },
    /// Simulate whole fleets in virtual time, with faults chosen by a seed, and check every window.
    Simulate {
        /// For example `--seed 7 --trace`, or `--members 1000000 --brokers 4 --for 10m --fast`;
        /// `-- --help` lists the options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure how long processes get no IDs when their store restarts or fails over. Takes about
    /// eight minutes on private servers.
    Failover {
        /// For example `--only etcd`, or `--excluded` for events without a promise; `-- --help`
        /// lists the options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Attack a server in every protocol at once, and compare how long its clients wait with and without the attack.
    Attack {
        /// For example `--seconds 10`, instead of 60 for each of the two measurements.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Count the requests that two brokers send to a store, on a private server.
    Requests {
        /// For example `--store s3 --window 30`; `-- --help` lists the options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the guide (docs), run its commands, and start the examples that it quotes.
    Docs {
        /// Check only this part (may be given more than once).
        #[arg(long, value_name = "PART")]
        only: Vec<tutorials::Part>,
    },
    /// Check the Helm chart, and test the store and the chart on a private Kubernetes API server. The
    /// first run builds the API server and Helm, which takes 10 to 20 minutes.
    Kubernetes {
        /// Write the manifests in deploy/kubernetes from the chart.
        #[arg(long)]
        render: bool,
    },
    /// Run the tests of leases and SQL that apply to `MySQL`, with its own packages instead of
    /// `MariaDB`'s. Downloads the packages from Debian's unstable release, and installs nothing.
    Mysql,
    /// Prove the lease rule with Z3, and compare the proof with the code on random states.
    Proof(proof::Options),
    /// Fuzz the parsers of descriptors, IDs, URLs, keyrings, lease requests, and commands and queries
    /// of the server.
    Fuzz(fuzz::Options),
    /// Run tests of the core and of leases in Miri, which stops at undefined behaviour.
    Miri,
    /// Start a private server of every kind of store, and stop them on Ctrl-C.
    Stores,
    /// Install the servers that the tests and the campaign start.
    Servers,
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Test(choice) => test::run(&choice),
        Task::Lint { sources: true, .. } => lint::sources(),
        Task::Lint { full, .. } => lint::run(full),
        Task::Format => lint::format(),
        Task::Msrv => lint::msrv(),
        Task::C(package) => package.run(c::bench, c::test, c::build),
        Task::Recipes { only } => recipes::test(&only),
        Task::Go { test: true, .. } => go::test(),
        Task::Go { archives: Some(folder), .. } => go::release(&folder),
        Task::Go { .. } => go::build(),
        Task::Java { test: true, .. } => jar::test(),
        Task::Java { target: Some(triple), .. } => jar::native(&triple),
        Task::Java { natives: Some(folder), .. } => jar::release(&folder),
        Task::Java { .. } => jar::build(),
        Task::Api => api::write(),
        Task::Header => header::write(),
        // The header contains the generated fields of C with their documentation.
        Task::Options => options::write().and_then(|()| header::write()),
        Task::Errors => lint::write_errors(),
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
        Task::Wasm { .. } => wasm::build().map(drop),
        Task::Platforms { only } => platforms::run(&only),
        Task::Page { test: false, screenshots: false } => wasm::page::build(),
        Task::Page { screenshots, .. } => wasm::page::test(screenshots),
        Task::Node(package) => package.run(node::bench, node::test, node::build),
        Task::Toolchains { only } => toolchains::test(&only),
        Task::Image { test: true, .. } => deploy::test_image(),
        Task::Image { target, .. } => deploy::image(target.as_deref()),
        Task::Command { target } => {
            let triple = target.as_deref().unwrap_or("x86_64-unknown-linux-musl");
            Target::new(Some(triple)).and_then(|target| command::build(&target))
        }
        Task::Rehearse { only, compare } => rehearsal::run(&only, compare.as_deref()),
        Task::Tag { tag } => publish::check_tag(&tag),
        Task::Publish { registry, dry_run } => publish::run(registry, dry_run),
        Task::Installers { archives, partial } => installers::build(&archives, partial).map(drop),
        Task::Sbom => sbom::build().map(drop),
        Task::Bench { options, task } => bench::run(&options, task.as_ref()),
        Task::Campaign { with_python, arguments } => campaign::run(with_python, &arguments),
        Task::Restores { stores, mutants } => restores::run(&stores, mutants),
        Task::Simulate { arguments } => simulation::run(&arguments),
        Task::Failover { arguments } => campaign::failover(&arguments),
        Task::Attack { arguments } => {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            server_checks::attack(&arguments)
        }
        Task::Requests { arguments } => campaign::requests(&arguments),
        Task::Docs { only } => docs::check(&only),
        Task::Proof(options) => proof::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Miri => miri::run(),
        Task::Kubernetes { render: true } => kubernetes::render(),
        Task::Kubernetes { render: false } => kubernetes::test(),
        Task::Mysql => mysql::test(),
        Task::Stores => campaign::stores(),
        Task::Servers => server_packages::ensure_all(),
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
