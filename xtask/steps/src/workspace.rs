//! The tests in Rust: what cargo is to build, and what may run beside what.

use crate::inputs::Inputs;
use crate::step::{Failed, Outcome, Step};
use crate::suites::{self, Suite};

/// Tools of the project, tested as they are used: not optimised. What they need is compiled for
/// `cargo xtask` already.
const TOOLS: [&str; 6] = [
    "flakeid-bench-report",
    "flakeid-guide",
    "flakeid-linking",
    "flakeid-source-lints",
    "flakeid-steps",
    "xtask",
];

/// Without tests in Rust: `cargo xtask python --test` and `cargo xtask wasm --test` have theirs.
const WITHOUT_TESTS: [&str; 2] = ["flakeid-python", "flakeid-wasm"];

/// What keeps every core busy, measures times, or stops a process that must not be in the middle of a
/// transaction then, as it is when the disk is busy: nothing runs beside it.
const ALONE: [&str; 3] =
    ["flakeid-core/threads", "flakeid-lease/lease_faults", "flakeid-lease/stopped"];

/// What computes all the time: it gets what the others leave of the processors.
const PATIENT: &str = "flakeid-model/flakeid-model (unit tests of the program)";

/// What takes longest begins first, in this order.
const LONGEST: [&str; 12] = [
    PATIENT,
    "flakeid-lease/etcd",
    "flakeid-lease/mysql",
    "flakeid-lease/postgres",
    "flakeid-lease/redis",
    "flakeid-lease/refusals",
    "flakeid-lease/broker_model",
    "flakeid-cli/cli",
    "flakeid-lease/sqlite_fork",
    "flakeid-lease/sqlite",
    "flakeid-lease/memory",
    "flakeid-core/restart",
];

/// How many executables run at a time, the patient one among them. The others mostly wait, so that this
/// may be more than the cores.
const AT_ONCE: usize = 4;

/// Builds every test.
pub fn build() -> Result<Vec<Suite>, Failed> {
    let tools = TOOLS.iter().fold(Step::cargo(&["test", "--no-run", "--locked"]), |step, tool| {
        step.args(&["--package", tool])
    });
    let mut suites = Suite::built(optimised("build").args(&["--bins", "--examples", "--tests"]))?;
    suites.extend(Suite::built(tools)?);
    Ok(suites)
}

/// Builds what is not built yet, and runs every test, those in the documentation too. If tests are to be spared,
/// those are passed over which have passed before, and of whose packages nothing has changed since. Which files a
/// package is unrelated to is known of these packages.
pub fn run(spares: bool, unrelated: &[(&str, &[&[&str]])]) -> Outcome {
    let mut suites = build()?;
    let known = |name: &&&str| !suites.iter().any(|suite| suite.name() == **name);
    if let Some(name) = ALONE.iter().chain(&LONGEST).find(known) {
        return Err(Failed(format!("xtask/steps/src/workspace.rs names {name}, which is no test")));
    }
    for (package, unrelated) in unrelated {
        let inputs = Inputs::of(package, unrelated)?;
        let belongs = |suite: &Suite| {
            let rest = suite.name().strip_prefix(package);
            rest.is_some_and(|rest| rest.starts_with(['/', ' ']))
        };
        suites = suites
            .into_iter()
            .map(|suite| if belongs(&suite) { suite.depending_on(&inputs) } else { suite })
            .collect();
    }
    if spares {
        let (passed, changed): (Vec<_>, Vec<_>) = suites.into_iter().partition(Suite::has_passed);
        if !passed.is_empty() {
            let names: Vec<_> = passed.iter().map(Suite::name).collect();
            println!("\nunchanged since they passed; --all runs them again: {}", names.join(", "));
        }
        suites = changed;
    }
    suites.push(Suite::new("documentation", optimised("test").args(&["--doc"])));
    let place = |suite: &Suite| {
        LONGEST.iter().position(|name| *name == suite.name()).unwrap_or(LONGEST.len())
    };
    suites.sort_by_key(place);
    suites = suites
        .into_iter()
        .map(|suite| if suite.name() == PATIENT { suite.patient() } else { suite })
        .collect();
    let (alone, others) = suites.into_iter().partition(|suite| ALONE.contains(&suite.name()));
    suites::run([(others, AT_ONCE), (alone, 1)])
}

/// Builds the command and the first example, in the profile of the README.
pub fn build_programs() -> Outcome {
    // With the hack they share what the tests and the libraries are built of. That the command can be built
    // without is a matter of features, which `cargo xtask lint` checks much sooner.
    Step::cargo(&["build", "--quiet", "--release", "--locked", "-p", "flakeid-cli"])
        .args(&["-p", "flakeid-examples", "-p", "workspace-hack"])
        .args(&["--lib", "--bin", "flakeid", "--bin", "quickstart"])
        .run()
}

/// The tests of the core that need no system, of the core without one.
pub fn core_without_std() -> Outcome {
    tests_of_core()
        .args(&["-p", "workspace-hack", "--no-default-features"])
        .args(&["--lib", "--test", "model", "--test", "vectors"])
        .run()
}

/// Forks, of the core where the kernel cannot clear memory in a child.
pub fn fork_handler() -> Outcome {
    tests_of_core().args(&["--test", "fork"]).configured("flakeid_atfork").run()
}

/// Every interleaving of the lock-free structures.
pub fn loom_models() -> Outcome {
    let build = tests_of_core()
        .args(&["-p", "flakeid-lease", "--no-default-features"])
        .args(&["--features", "flakeid-core/default", "--lib", "--no-run"])
        .args(&["--config", "profile.release.package.flakeid-lease.opt-level=3"])
        .configured("loom");
    let suites = Suite::built(build)?.into_iter().map(|suite| suite.only("loom"));
    // In each the last models are long ones, which leave a core to the other.
    suites::run([(suites.collect(), 2)])
}

fn tests_of_core() -> Step {
    Step::cargo(&["test", "-p", "flakeid-core"]).optimised_with_checks()
}

/// A `cargo` command for all that is tested with optimisation, and every check of a debug build.
fn optimised(command: &str) -> Step {
    let step = Step::cargo(&[command, "--workspace", "--all-features"]).optimised_with_checks();
    TOOLS
        .iter()
        .chain(&WITHOUT_TESTS)
        .fold(step, |step, package| step.args(&["--exclude", package]))
}

#[cfg(test)]
mod tests {
    use crate::files;

    /// The profile `dist` inherits what `release` says of a package.
    #[test]
    fn dist_profile_optimises_every_published_package() {
        let manifest = files::text("Cargo.toml").unwrap_or_default();
        let packages: Vec<_> = manifest
            .split("\n[profile.release.package.")
            .skip(1)
            .filter_map(|rest| rest.split_once("]\nopt-level = "))
            // Some sections set something else.
            .filter(|(package, level)| !package.contains('\n') && !level.starts_with('3'))
            .collect();
        assert!(packages.len() > 5, "{packages:?}");
        for (package, _) in packages {
            let wanted = format!("\n[profile.dist.package.{package}]\nopt-level = 3\n");
            assert!(manifest.contains(&wanted), "Cargo.toml has to have: {wanted}");
        }
    }
}
