//! The steps of the tests, in every language and with every server.

use flakeid_steps::packages::Program;
use flakeid_steps::plan::{self, Choice, Lane, PlannedStep};
use flakeid_steps::{Outcome, Step, workspace};

use crate::platform::Target;
use crate::python::{self, Wheel};
use crate::{
    c, campaign, deploy, docs, go, jar, kubernetes, lint, mysql, node, platforms, proof, recipes,
    restores, rivals, server_checks, server_packages, toolchains, tutorials, wasm,
};

/// The programs that build the packages of the languages and the WebAssembly modules.
const PYTHON: &[Program] = &[("python3", "python3"), ("cc", "gcc"), ("tar", "tar")];
const BROWSER: &[Program] = &[
    ("node", "nodejs"),
    ("npm", "npm"),
    ("wasm-opt", "binaryen"),
    ("/usr/bin/chromium", "chromium"),
];

/// The programs with which `pip`, `npm` and `mvn` build and test.
const FOLDERS: &[Program] = &[
    ("python3", "python3"),
    ("gcc", "gcc"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("javac", "openjdk-17-jdk-headless"),
    ("mvn", "maven"),
    ("pkg-config", "pkg-config"),
    ("sqlite3", "sqlite3"),
];

/// Every step, in the order in which the steps of each lane run: those that are likely to fail and end soon come first.
const STEPS: &[PlannedStep] = &[
    step("servers", Lane::First, server_packages::NEEDED, |_| server_packages::ensure_all()),
    // Before the build, because the README's command replaces the executable of the command.
    step("README", Lane::First, &[], |_| docs::readme()),
    step("build", Lane::First, &[("cc", "gcc")], |_| workspace::build().map(drop)),
    step("crates", Lane::Main, &[], |_| workspace::run()),
    step("vectors", Lane::Side, &[("python3", "python3")], |_| vectors()),
    step("core without std", Lane::Side, &[], |_| workspace::core_without_std()),
    step("loom models", Lane::Side, &[], |_| workspace::loom_models()),
    step("proof", Lane::Side, PYTHON, proof::test),
    step("model", Lane::Side, &[], workspace::model),
    step("campaign", Lane::Main, &[], campaign::test),
    step("Node", Lane::Main, BROWSER, |_| node::test(&Target::tested(None)?)),
    step("Python", Lane::Main, PYTHON, |_| {
        python::test(&Wheel { target: Target::tested(None)?, free_threaded: None })
    }),
    step("C, C++, Go, Java", Lane::Side, flakeid_linking::NEEDED, |_| {
        c::link(&Target::tested(None)?)
    }),
    step("WebAssembly", Lane::Side, BROWSER, |_| wasm::test()),
    step("page", Lane::Side, BROWSER, |_| wasm::page::test(false)),
    step("deploy", Lane::Main, &deploy::NEEDED, |_| deploy::check()),
    step("cargo test", Lane::Long, &[], |_| Step::cargo(&["test", "--locked"]).run()),
    step("Python sdist", Lane::Long, PYTHON, |_| python::test_sdist()),
    step("lint in full", Lane::Long, &[], |_| lint::run(true)),
    step("oldest compiler", Lane::Long, &[], |_| lint::msrv()),
    step("rivals", Lane::Long, &rivals::NEEDED, |_| rivals::test()),
    step("guide", Lane::Long, &docs::NEEDED, |_| docs::check(&[tutorials::Part::Guide])),
    step("tutorials", Lane::Long, &jar::NEEDED, |_| docs::check(&[tutorials::Part::Tutorials])),
    step("toolchains", Lane::Long, BROWSER, |_| toolchains::test(&[])),
    step("recipes", Lane::Long, &recipes::NEEDED, |_| recipes::test(&[])),
    step("Go module", Lane::Long, &go::NEEDED, |_| go::test()),
    step("folders of languages", Lane::Long, FOLDERS, |_| docs::folders()),
    step("Kubernetes", Lane::Long, &kubernetes::NEEDED, |_| kubernetes::test()),
    step("restores", Lane::Long, &kubernetes::NEEDED, |_| restores::run(&[], false)),
    step("MySQL", Lane::Long, &mysql::NEEDED, |_| mysql::test()),
    step("OpenAPI", Lane::Long, PYTHON, |_| server_checks::openapi()),
    step("attack", Lane::Long, &[], |_| server_checks::attack(&["--without-times"])),
    step("platforms", Lane::Long, &[], |_| platforms::run(&[])),
];

const fn step(
    name: &'static str,
    lane: Lane,
    needs: &'static [Program],
    run: fn(bool) -> Outcome,
) -> PlannedStep {
    PlannedStep { name, lane, needs, run }
}

pub(crate) fn run(choice: &Choice) -> Outcome {
    plan::run("cargo xtask test", STEPS, choice)
}

/// Checks that the shared vectors match the reference implementation.
fn vectors() -> Outcome {
    Step::new("python3", &["tests/vectors/reference.py", "--check"]).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_workflow_runs_every_test_step() {
        let workflow = flakeid_steps::files::text(".github/workflows/ci.yml").unwrap_or_default();
        for PlannedStep { name, .. } in STEPS {
            assert!(
                workflow.lines().any(|line| line.trim() == *name),
                "ci.yml never runs {name:?}"
            );
        }
    }
}
