//! Everything that must pass before a change lands, step by step.

use flakeid_steps::{Choice, Outcome, Step, Times, workspace};

use crate::platform::Target;
use crate::python::Wheel;
use crate::{c, campaign, deploy, docs, header, lint, node, python, rivals, server_packages, wasm};

/// What is read by people or by lint alone.
const DOCUMENTS: &[&str] = &[
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "DESIGN.md",
    "README.md",
    "SECURITY.md",
    ".github",
    "docs",
];

/// Of these, what no test in Rust reads.
const TEXTS: &[&str] = &["CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "SECURITY.md", "docs"];

/// What nothing but the README and the tests in Rust uses.
const COMMAND: &[&str] = &[
    "crates/flakeid-cli",
    "crates/flakeid-json",
    "crates/flakeid-server",
    "tests/guide",
    "tests/model",
    "tests/sources",
];

/// What other languages have.
const LANGUAGES: &[&str] = &[
    "bindings",
    "go",
    "include",
    "java",
    "node",
    "python",
    "tests/c",
    "tests/cpp",
    "tests/java",
    "tests/linking",
];

/// The packages whose tests start no program of another package, and what these tests are unrelated to.
const PACKAGES: &[(&str, &[&[&str]])] = &[
    ("flakeid-core", &[TEXTS, COMMAND, LANGUAGES, &["crates/flakeid-lease", "tests/campaign"]]),
    ("flakeid-lease", &[TEXTS, COMMAND, LANGUAGES, &["tests/campaign"]]),
    (
        "flakeid-model",
        &[
            TEXTS,
            LANGUAGES,
            &["crates/flakeid-cli", "crates/flakeid-json", "crates/flakeid-server"],
        ],
    ),
    ("flakeid-server", &[TEXTS, LANGUAGES, &["crates/flakeid-cli", "tests/model"]]),
];

pub(crate) fn run(choice: Choice) -> Outcome {
    choice.check(steps)?;
    let mut times = Times::new(choice);
    let outcome = steps(&mut times);
    print!("\n{times}");
    outcome?;
    if times.is_complete() {
        println!("\ncargo xtask test: everything passed");
    }
    Ok(())
}

/// What is most likely to fail, and soonest done, comes first.
fn steps(times: &mut Times) -> Outcome {
    times.step("servers", server_packages::ensure_all)?;
    let core =
        [DOCUMENTS, COMMAND, LANGUAGES, &["crates/flakeid-lease", "examples", "tests/campaign"]];
    let loom = [DOCUMENTS, COMMAND, LANGUAGES, &["examples", "tests/campaign"]];
    // Each uses one core most of the time, and so does lint; they have target directories of their own.
    times.begin(&[("fork handler", &core), ("loom models", &loom)])?;
    times.step("vectors", || {
        Step::new("python3", &["tests/vectors/reference.py", "--check"])
            .or_install("apt-get install python3 (3.11 or later)")
            .run()
    })?;
    times.step("C header", header::check)?;
    times.step("lint", lint::run)?;
    times.step("workspace: build", || workspace::build().map(drop))?;
    let spares = times.spares();
    times.step("workspace: run", || workspace::run(spares, PACKAGES))?;
    // The extension of SQLite, which is in the archive, writes JSON as the command does.
    let tests = ["tests/campaign", "tests/guide", "tests/model", "tests/sources"];
    let others =
        ["bindings/node", "bindings/page", "bindings/python", "bindings/wasm", "node", "python"];
    let c = [DOCUMENTS, &others, &["crates/flakeid-cli", "crates/flakeid-server"], &tests];
    let others = [
        "bindings/c",
        "bindings/node",
        "bindings/page",
        "bindings/python",
        "bindings/sqlite",
        "go",
        "include",
        "java",
        "python",
    ];
    // Not the command, which is the broker that it leases from.
    let module = [DOCUMENTS, &others, &tests];
    // Each uses one core most of the time.
    times.begin(&[("C, C++, Go, Java", &c), ("WebAssembly", &module)])?;
    times.step_without("core without std", &core, workspace::core_without_std)?;
    times.step_without("fork handler", &core, workspace::fork_handler)?;
    times.step_without("loom models", &loom, workspace::loom_models)?;
    // Not the command, whose processes are brokers.
    let others = ["examples", "tests/guide", "tests/model", "tests/sources"];
    let stores = [DOCUMENTS, LANGUAGES, &others];
    times.step_without("campaign", &stores, campaign::short)?;
    let here = Target::tested(None)?;
    times.step("README", docs::readme)?;
    times.step("deploy", deploy::check)?;
    let others = [
        "bindings/c",
        "bindings/page",
        "bindings/python",
        "bindings/sqlite",
        "bindings/wasm",
        "go",
        "include",
        "java",
        "python",
    ];
    let node = [DOCUMENTS, COMMAND, &others, &["node/wasm", "tests/campaign"]];
    times.step_without("Node", &node, || node::test(&here))?;
    let others = [
        "bindings/c",
        "bindings/node",
        "bindings/page",
        "bindings/sqlite",
        "bindings/wasm",
        "go",
        "include",
        "java",
        "node",
    ];
    let python = [DOCUMENTS, COMMAND, &others, &["tests/campaign"]];
    times.step_without("Python", &python, || {
        python::test(&Wheel { target: here, free_threaded: None })
    })?;
    times.step_without("C, C++, Go, Java", &c, || c::link(&here))?;
    times.step_without("WebAssembly", &module, wasm::test)?;
    let others = ["bindings/c", "bindings/node", "bindings/python", "bindings/sqlite", "examples"];
    // The command is not among them: it serves the page in one of the tests.
    let page = [DOCUMENTS, &others, &["go", "include", "java", "node", "python"], &tests];
    // Only the command, and what it guesses with.
    let guesses =
        [DOCUMENTS, LANGUAGES, &["crates/flakeid-lease", "crates/flakeid-server"], &tests];
    times.step_without("rivals", &guesses, rivals::test)?;
    times.step_without("page", &page, || wasm::page::test(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_runs_every_step() {
        let mut times = Times::new(Choice::list());
        assert!(steps(&mut times).is_ok());
        let workflow = flakeid_steps::files::text(".github/workflows/ci.yml").unwrap_or_default();
        for step in times.to_string().lines() {
            assert!(workflow.lines().any(|line| line.trim() == step), "ci.yml never runs {step:?}");
        }
    }
}
