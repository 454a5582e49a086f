//! The steps that must pass before a change lands.

use flakeid_steps::{Choice, Outcome, Step, Times, workspace};

use crate::platform::Target;
use crate::python::{self, Wheel};
use crate::{
    api, c, campaign, deploy, docs, header, lint, node, proof, rivals, server_packages, wasm,
};

/// Files that are read only by people or by lints.
const DOCUMENTS: &[&str] = &[
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "DESIGN.md",
    "README.md",
    "SECURITY.md",
    ".github",
    "docs",
];

/// The documents that no test in Rust reads.
const UNREAD_DOCUMENTS: &[&str] =
    &["CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "SECURITY.md", "docs"];

/// Folders that only the README and the tests in Rust use.
const COMMAND: &[&str] = &[
    "crates/flakeid-cli",
    "crates/flakeid-json",
    "crates/flakeid-server",
    "tests/guide",
    "tests/model",
    "tests/simulation",
    "tests/sources",
];

/// Folders of the other languages.
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

/// The crates of leases, from the lowest layer to the highest.
const LEASES: &[&str] = &[
    "crates/flakeid-protocol",
    "crates/flakeid-conformance",
    "crates/flakeid-stores",
    "crates/flakeid",
];

/// The packages whose tests start no program of another package. Each has the files on which its
/// tests do not depend.
const PACKAGES: &[(&str, &[&[&str]])] = &[
    ("flakeid-core", &[UNREAD_DOCUMENTS, COMMAND, LANGUAGES, LEASES, &["tests/campaign"]]),
    (
        "flakeid-protocol",
        &[
            UNREAD_DOCUMENTS,
            COMMAND,
            LANGUAGES,
            &["crates/flakeid-stores", "crates/flakeid", "tests/campaign"],
        ],
    ),
    ("flakeid-stores", &[UNREAD_DOCUMENTS, COMMAND, LANGUAGES, &["tests/campaign"]]),
    ("flakeid", &[UNREAD_DOCUMENTS, COMMAND, LANGUAGES, &["tests/campaign"]]),
    (
        "flakeid-model",
        &[
            UNREAD_DOCUMENTS,
            LANGUAGES,
            LEASES.split_at(1).1,
            &["crates/flakeid-cli", "crates/flakeid-json", "crates/flakeid-server"],
        ],
    ),
    (
        "flakeid-simulation",
        &[
            UNREAD_DOCUMENTS,
            LANGUAGES,
            LEASES.split_at(1).1,
            &["crates/flakeid-cli", "crates/flakeid-json", "crates/flakeid-server"],
        ],
    ),
    (
        "flakeid-server",
        &[UNREAD_DOCUMENTS, LANGUAGES, &["crates/flakeid-cli", "tests/model", "tests/simulation"]],
    ),
    // The documents are not omitted, because the tests compare them with the help.
    ("flakeid-cli", &[LANGUAGES, &["tests/campaign", "tests/model", "tests/simulation"]]),
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

/// Runs the steps in order. Steps that are likely to fail and end soon come first.
fn steps(times: &mut Times) -> Outcome {
    times.step("servers", server_packages::ensure_all)?;
    let core = [DOCUMENTS, COMMAND, LANGUAGES, LEASES, &["examples", "tests/campaign"]];
    let loom = [DOCUMENTS, COMMAND, LANGUAGES, &["examples", "tests/campaign"]];
    // Lint and each of these steps use one core most of the time. Each step has a separate target
    // directory.
    times.begin(&[("fork handler", &core), ("loom models", &loom)])?;
    times.step("vectors", || {
        Step::new("python3", &["tests/vectors/reference.py", "--check"])
            .or_install("apt-get install python3 (3.11 or later)")
            .run()
    })?;
    times.step("C header", header::check)?;
    times.step("lint", lint::run)?;
    let outside = ["examples", "tests", "crates/flakeid-cli"];
    times.step_without("public items", &[DOCUMENTS, LANGUAGES, &outside], api::check)?;
    times.step("workspace: build", || workspace::build().map(drop))?;
    let skips_unchanged = times.skips_unchanged();
    times.step("workspace: run", || workspace::run(skips_unchanged, PACKAGES))?;
    // These files are not omitted, because the `SQLite` extension in the archive writes the same
    // JSON as the command.
    let tests =
        ["tests/campaign", "tests/guide", "tests/model", "tests/simulation", "tests/sources"];
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
    // The command is not omitted, because the tests lease from a broker that the command runs.
    let module = [DOCUMENTS, &others, &tests];
    // Each of these steps uses one core most of the time.
    times.begin(&[("C, C++, Go, Java", &c), ("WebAssembly", &module)])?;
    times.step_without("core without std", &core, workspace::core_without_std)?;
    let others = ["examples", "tests/campaign", "crates/flakeid-stores", "crates/flakeid"];
    // The documents are not omitted, because the proof reads the list of its assumptions there.
    times.step_without("proof", &[COMMAND, LANGUAGES, &others], proof::test)?;
    times.step_without("fork handler", &core, workspace::fork_handler)?;
    times.step_without("loom models", &loom, workspace::loom_models)?;
    // The command is not omitted, because its processes are the brokers.
    let others = ["examples", "tests/guide", "tests/model", "tests/simulation", "tests/sources"];
    let stores = [DOCUMENTS, LANGUAGES, &others];
    times.step_without("campaign", &stores, campaign::short)?;
    let here = Target::tested(None)?;
    times.step("README", docs::readme)?;
    times.step_without("deploy", &[LANGUAGES], deploy::check)?;
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
    // The command is not omitted, because the wheel contains it.
    let python = [DOCUMENTS, &others, &tests];
    times.step_without("Python", &python, || {
        python::test(&Wheel { target: here, free_threaded: None })
    })?;
    times.step_without("C, C++, Go, Java", &c, || c::link(&here))?;
    times.step_without("WebAssembly", &module, wasm::test)?;
    let others = ["bindings/c", "bindings/node", "bindings/python", "bindings/sqlite", "examples"];
    // The command is not omitted, because it serves the page in one of the tests.
    let page = [DOCUMENTS, &others, &["go", "include", "java", "node", "python"], &tests];
    // This step depends only on the command and on the code that guesses layouts.
    let guesses = [DOCUMENTS, LANGUAGES, LEASES, &["crates/flakeid-server"], &tests];
    times.step_without("rivals", &guesses, rivals::test)?;
    times.step_without("page", &page, || wasm::page::test(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_workflow_runs_every_test_step() {
        let mut times = Times::new(Choice::list());
        assert!(steps(&mut times).is_ok());
        let workflow = flakeid_steps::files::text(".github/workflows/ci.yml").unwrap_or_default();
        for step in times.to_string().lines() {
            assert!(workflow.lines().any(|line| line.trim() == step), "ci.yml never runs {step:?}");
        }
    }
}
