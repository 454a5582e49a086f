//! The npm packages in the toolchains of users: bundlers, frameworks, test runners and other
//! runtimes. Each toolchain has a project in `tests/toolchains`, with its own lock file.

use clap::ValueEnum;
use flakeid_steps::servers::Servers;
use flakeid_steps::{Failed, Outcome, Step, files, packages, workspace};

use crate::node;
use crate::npm::npm;
use crate::platform::Target;
use crate::server_packages::POSTGRESQL;
use crate::wasm;

const SOURCE: &str = "tests/toolchains";
const WORK: &str = "target/toolchains";

/// A project in `tests/toolchains`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Toolchain {
    /// Vite, webpack, Rollup and esbuild: pages in Chromium, and servers.
    Bundlers,
    /// Next.js, with both of its bundlers.
    Next,
    /// Nest.
    Nest,
    /// Prisma, with its generated client.
    Prisma,
    /// Jest and Vitest.
    Runners,
    /// Bun and Deno, and Node without its add-on.
    Runtimes,
    /// The runtime of Cloudflare Workers.
    Edge,
}

impl Toolchain {
    const fn folder(self) -> &'static str {
        match self {
            Self::Bundlers => "bundlers",
            Self::Next => "next",
            Self::Nest => "nest",
            Self::Prisma => "prisma",
            Self::Runners => "runners",
            Self::Runtimes => "runtimes",
            Self::Edge => "edge",
        }
    }
}

/// Installs the packages into the project of each toolchain, and runs the tests there. Tests all
/// toolchains if none is given.
pub(crate) fn test(only: &[Toolchain]) -> Outcome {
    let here = Target::tested(None)?;
    let tarballs = node::tarballs(&here)?;
    wasm::ensure_chromium()?;
    let command = workspace::build_programs(&["flakeid"])?.join("flakeid");
    let chosen = if only.is_empty() { Toolchain::value_variants() } else { only };
    for toolchain in chosen {
        let project = prepare(*toolchain, &tarballs)?;
        let names = files::names(&project)?;
        let tests: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| name.ends_with(".test.mjs")).collect();
        let run = Step::new("node", &["--test"])
            .args(&tests)
            .within(&project)
            .env("FLAKEID_COMMAND", &command);
        if *toolchain == Toolchain::Prisma {
            packages::ensure(&[POSTGRESQL])?;
            let servers = Servers::start(&["postgres"])?;
            run.env("DATABASE_URL", servers.url("postgres")?).run()?;
        } else {
            run.run()?;
        }
    }
    Ok(())
}

/// Copies the project of a toolchain, and installs its locked dependencies and the tarballs.
/// Returns the folder.
fn prepare(toolchain: Toolchain, tarballs: &[String]) -> Result<String, Failed> {
    let project = format!("{WORK}/{}", toolchain.folder());
    files::empty(&project)?;
    files::copy_folder(&format!("{SOURCE}/{}", toolchain.folder()), &project)?;
    files::copy_files(SOURCE, WORK)?;
    if matches!(toolchain, Toolchain::Bundlers | Toolchain::Edge | Toolchain::Next) {
        // The tests use the browser and the broker of the tests of WebAssembly.
        files::copy("node/wasm/test/node/broker.mjs", format!("{project}/harness/broker.mjs"))?;
        let harness = "browser/harness.mjs";
        files::copy(format!("node/wasm/test/{harness}"), format!("{project}/harness/{harness}"))?;
    }
    if toolchain == Toolchain::Runners {
        // The page on testing quotes these tests.
        let test = "orders.test.mjs";
        files::copy(format!("examples/testing/{test}"), format!("{project}/guide/{test}"))?;
    }
    npm(&["--prefix", &project, "ci", "--silent"]).run()?;
    npm(&["--prefix", &project, "install", "--silent", "--no-save"])
        .args(&tarballs.iter().map(String::as_str).collect::<Vec<_>>())
        .run()?;
    Ok(project)
}
