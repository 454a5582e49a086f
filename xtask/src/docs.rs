//! The guide. This task builds what the guide's commands and programs need, and `tests/guide`
//! checks the guide.

use std::time::Instant;

use flakeid_steps::packages::Program;
use flakeid_steps::venv::Venv;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root, workspace};

use crate::npm::npm;
use crate::platform::Target;
use crate::tutorials::Part;
use crate::wasm::page::PAGE_FILE;
use crate::{api_references, c, go, node, python, server_packages, tutorials, wasm};

/// The programs that run the guide's commands and examples.
pub(crate) const NEEDED: [Program; 9] = [
    ("timeout", "coreutils"),
    ("cc", "gcc"),
    ("pkg-config", "pkg-config"),
    ("go", "golang-go"),
    ("curl", "curl"),
    ("java", "openjdk-17-jdk-headless"),
    ("mvn", "maven"),
    ("php", "php-cli"),
    ("pg_config", "libpq-dev"),
];

const FASTIFY: [&str; 5] =
    ["package.json", "package-lock.json", ".npmrc", "server.mjs", "ecosystem.config.cjs"];

const NODE_TYPES: [&str; 6] =
    ["package.json", "package-lock.json", ".npmrc", "drizzle.mjs", "kysely.mjs", "typeorm.mjs"];

const PRISMA: [&str; 6] = [
    "package.json",
    "package-lock.json",
    ".npmrc",
    "prisma.config.mjs",
    "schema.prisma",
    "orders.mjs",
];

const BUNDLERS: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Checks the given parts of the guide, or the whole guide if none is given.
pub(crate) fn check(only: &[Part]) -> Outcome {
    let start = Instant::now();
    let parts = if only.is_empty() { &[Part::Guide, Part::Tutorials] } else { only };
    if parts.contains(&Part::Guide) {
        check_guide()?;
    } else if parts.contains(&Part::Book) {
        build()?;
    }
    let names = tutorials::prepare(parts)?;
    if !names.is_empty() {
        guide(&["tutorials", "--packages", tutorials::PACKAGES]).args(&names).run()?;
    }
    println!("\ncargo xtask docs: everything passed ({:.0} s)", start.elapsed().as_secs_f32());
    Ok(())
}

fn check_guide() -> Outcome {
    server_packages::ensure_all()?;
    packages::ensure(&NEEDED)?;
    build()?;
    workspace::build_programs(&["flakeid"])?;
    let target = Target::tested(None)?;
    let library = c::installed(&target, "target/docs/c")?;
    let python = python::with_wheel_and("docs", "examples/requirements.txt")?.program("python")?;
    let wheel = python::wheel(&Target::tested(None)?)?;
    let project = |name: &str, example: &str, names: &[&str]| {
        let project = format!("target/docs/{name}");
        files::empty(&project)?;
        node::project(&project, &format!("examples/{example}"), names)?;
        files::shown(&root().join(project))
    };
    let fastify = project("node", "fastify", &FASTIFY)?;
    let node_types = project("node-types", "node-types", &NODE_TYPES)?;
    let prisma = project("prisma", "prisma", &PRISMA)?;
    let bundlers = project("bundlers", "bundlers", &BUNDLERS)?;
    // npm removes the packages of an earlier installation that it did not save.
    let tarballs = node::tarballs(&target)?;
    npm(&["--prefix", &bundlers, "install", "--silent", "--no-save"])
        .args(&tarballs.iter().map(String::as_str).collect::<Vec<_>>())
        .run()?;
    let go_proxy = go::proxy(&target)?;
    guide(&["programs", "--c-library", &files::shown(&library)?, "--python", &python])
        .args(&["--c-archive", &c::tarball(&target)])
        .args(&["--wheel", &wheel, "--go-proxy", &go_proxy])
        .args(&["--node", &fastify, "--node-types", &node_types, "--prisma", &prisma])
        .args(&["--bundlers", &bundlers, "--npm-packages", &target.packages("node")])
        .run()
}

/// Builds the guide with the page that explains IDs and the API references, and checks all links.
fn build() -> Outcome {
    guide(&["book"]).run()?;
    wasm::page::build()?;
    files::copy(PAGE_FILE, "target/docs/book/page.html")?;
    api_references::build()?;
    guide(&["links"]).run()
}

/// The commands in `CONTRIBUTING.md` for the folders of languages that no other step runs.
const OF_FOLDERS: [&str; 3] = [
    "pip install -e './python[test]' && pytest python",
    "cd node && npm test",
    "cd java && mvn test",
];

/// Runs the commands of the folders of languages as `CONTRIBUTING.md` states them, in a virtual environment of Python.
pub(crate) fn folders() -> Outcome {
    let document = files::text("CONTRIBUTING.md")?;
    let environment = Venv::lasting("editable")?;
    OF_FOLDERS.iter().try_for_each(|command| {
        if !document.contains(&format!("| `{command}` |")) {
            return Err(Failed(format!("the table in CONTRIBUTING.md has no cell `{command}`")));
        }
        Step::new("sh", &["-c", command])
            .env("PATH", environment.path()?)
            // With these features, the editable build shares compiled crates with the tests in Rust.
            .env("MATURIN_PEP517_ARGS", format!("--features {}", python::OF_TESTS))
            .run()
    })
}

/// Runs the commands and programs of the README.
pub(crate) fn readme() -> Outcome {
    guide(&["readme"]).run()
}

fn guide(arguments: &[&str]) -> Step {
    Step::cargo(&["run", "--quiet", "--locked", "-p", "flakeid-guide", "--"]).args(arguments)
}
