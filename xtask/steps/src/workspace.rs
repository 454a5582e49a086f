//! The tests in Rust: the executables that cargo builds, and the order in which they run.

use std::path::PathBuf;

use crate::step::{Failed, Outcome, Step, target_folder};
use crate::suites::{self, Suite};

/// The project's tools. They are tested with their own features, because `cargo xtask` has already compiled
/// their dependencies with these features.
const TOOLS: [&str; 6] = [
    "flakeid-bench-report",
    "flakeid-guide",
    "flakeid-linking",
    "flakeid-source-lints",
    "flakeid-steps",
    "xtask",
];

/// Packages without tests in Rust, which `cargo xtask python --test` and `cargo xtask wasm --test`
/// test.
const WITHOUT_TESTS: [&str; 2] = ["flakeid-python", "flakeid-wasm"];

/// Tests that run alone, because they use every core, measure times, or stop a process. A stopped process
/// must not be in the middle of a transaction, as it would be while the disk is busy.
const ALONE: [&str; 3] = ["flakeid-core/threads", "flakeid/lease_faults", "flakeid/stopped"];

/// The model of the protocol, a step of its own: it computes all the time, while most other tests wait.
const MODEL: &str = "flakeid-model/flakeid-model (unit tests of the program)";

/// The scenarios of the model with more than a million states, which only a full run tries.
const LARGE_SCENARIOS: [&str; 2] = ["two_nodes", "leases_continue"];

/// The tests that take longest, or the packages with such tests, in the order in which they start.
const LONGEST: [&str; 7] = [
    "flakeid-cli/cli",
    "flakeid-stores/",
    "flakeid-server/http",
    "flakeid/refusals",
    "flakeid/bad_answers",
    "flakeid-protocol/memory",
    "flakeid-core/restart",
];

/// The number of executables that run at the same time. It may exceed the number of cores, because most executables
/// wait.
const AT_ONCE: usize = 3;

/// Builds every test.
pub fn build() -> Result<Vec<Suite>, Failed> {
    let tools = TOOLS.iter().fold(Step::cargo(&["test", "--no-run", "--locked"]), |step, tool| {
        step.args(&["--package", tool])
    });
    let mut suites = Suite::built(products("build").args(&[
        "--profile",
        "test",
        "--bins",
        "--examples",
        "--tests",
    ]))?;
    suites.extend(Suite::built(tools)?);
    Ok(suites)
}

/// Builds every test, and runs all except the model, including the tests in the documentation.
pub fn run() -> Outcome {
    let mut suites = build()?;
    let unknown = |name: &&&str| !suites.iter().any(|suite| suite.name().starts_with(**name));
    if let Some(name) = ALONE.iter().chain(&LONGEST).chain([&MODEL]).find(unknown) {
        return Err(Failed(format!(
            "xtask/steps/src/workspace.rs lists {name}, which is not a test"
        )));
    }
    suites.retain(|suite| suite.name() != MODEL);
    suites.push(Suite::new("documentation", products("test").args(&["--doc"])));
    let place = |suite: &Suite| {
        LONGEST.iter().position(|name| suite.name().starts_with(name)).unwrap_or(LONGEST.len())
    };
    suites.sort_by_key(place);
    let (alone, others) = suites.into_iter().partition(|suite| ALONE.contains(&suite.name()));
    suites::run([(others, AT_ONCE), (alone, 1)])
}

/// Runs the model of the protocol. Only a full run tries the largest scenarios.
pub fn model(full: bool) -> Outcome {
    let suites = build()?.into_iter().filter(|suite| suite.name() == MODEL);
    let suites = suites.map(|suite| if full { suite } else { suite.without(&LARGE_SCENARIOS) });
    suites::run([(suites.collect(), 1)])
}

/// Builds executables with the features and the profile of the tests, so that nothing is compiled
/// twice, and returns their folder.
pub fn build_programs(names: &[&str]) -> Result<PathBuf, Failed> {
    // Cargo considers the features that tests require only if a test is selected as well.
    let build = products("build").args(&["--quiet", "--profile", "test", "--test", "ring"]);
    names.iter().fold(build, |build, name| build.args(&["--bin", name])).run()?;
    Ok(target_folder().join("debug"))
}

/// Tests the core without std, with the tests that do not need a system.
pub fn core_without_std() -> Outcome {
    tests_of_core()
        .args(&["-p", "workspace-hack", "--no-default-features"])
        .args(&["--lib", "--test", "model", "--test", "vectors"])
        .run()
}

/// Tests every interleaving of the lock-free structures.
pub fn loom_models() -> Outcome {
    let build = tests_of_core().args(&["--lib", "--no-run"]).configured("loom");
    let suites = Suite::built(build)?.into_iter().map(|suite| suite.only("loom"));
    // The last models of each executable take long and use only one core.
    suites::run([(suites.collect(), 2)])
}

fn tests_of_core() -> Step {
    Step::cargo(&["test", "--locked", "-p", "flakeid-core"])
}

/// Returns a `cargo` command for all packages except the tools.
fn products(command: &str) -> Step {
    let step = Step::cargo(&[command, "--locked", "--workspace", "--all-features"]);
    TOOLS
        .iter()
        .chain(&WITHOUT_TESTS)
        .fold(step, |step, package| step.args(&["--exclude", package]))
}

#[cfg(test)]
mod tests {
    use crate::files;

    #[test]
    fn profiles_of_published_packages_optimise_every_crate() {
        let manifest = files::text("Cargo.toml").unwrap_or_default();
        assert!(manifest.contains("[profile.dist]\ninherits = \"release\"\n"));
        assert!(!manifest.contains("[profile.release"), "release must keep Cargo's settings");
        assert!(!manifest.contains("[profile.dist."), "dist must not except a package");
    }
}
