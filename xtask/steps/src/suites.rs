//! Runs test executables, several at a time, because most of them wait for servers and clocks.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::files;
use crate::step::{Failed, Outcome, Step, target_folder};

/// An executable with tests.
pub struct Suite {
    /// The package and the target, such as `flakeid-stores/postgres`.
    name: String,
    step: Step,
}

impl Suite {
    /// Creates a suite from a command that runs tests.
    pub fn new(name: &str, step: Step) -> Self {
        Self { name: name.to_owned(), step }
    }

    /// Builds test executables with a `cargo` command. Returns them in the order of their names.
    pub fn built(cargo: Step) -> Result<Vec<Self>, Failed> {
        let messages = cargo.args(&["--message-format", "json-render-diagnostics"]).printed()?;
        let mut suites: Vec<Self> = messages
            .lines()
            .filter_map(|line| Self::of(&serde_json::from_str(line).ok()?))
            .collect();
        if suites.is_empty() {
            return Err(Failed("cargo built no tests".to_owned()));
        }
        suites.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(suites)
    }

    /// Creates a suite from one of cargo's messages. It runs in the folder of its package.
    fn of(message: &Value) -> Option<Self> {
        let executable = message["executable"].as_str()?;
        if message["profile"]["test"] != true {
            return None;
        }
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        let (target, kind) = (message["target"]["name"].as_str()?, &message["target"]["kind"][0]);
        let package = package(message["package_id"].as_str()?);
        // A library, a program and a test can have the same name as their package.
        let name = match kind.as_str()? {
            "test" => format!("{package}/{target}"),
            "bin" => format!("{package}/{target} (unit tests of the program)"),
            _ => format!("{package} (unit tests)"),
        };
        Some(Self::new(&name, Step::new(executable, &[]).within(folder)))
    }

    /// Runs only the tests whose names contain `part`.
    #[must_use]
    pub fn only(mut self, part: &str) -> Self {
        self.step = self.step.args(&[part]);
        self.name = format!("{}: {part}", self.name);
        self
    }

    /// Skips the tests with these names.
    #[must_use]
    pub fn without(self, names: &[&str]) -> Self {
        let step = self.step.args(&["--exact"]);
        let step = names.iter().fold(step, |step, name| step.args(&["--skip", name]));
        Self { step, ..self }
    }

    /// The package and the target.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file for the suite's output.
    fn log(&self) -> PathBuf {
        let name = files::plain_name(&self.name);
        target_folder().join("tests").join(format!("{}.log", name.trim_end_matches('-')))
    }
}

/// Returns the name in a package ID: the part after `#` if it contains a name, or else the last
/// folder.
fn package(id: &str) -> &str {
    let (place, end) = id.split_once('#').unwrap_or((id, ""));
    match end.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

/// The combined results of suites.
#[derive(Default)]
struct Results {
    suites: usize,
    passed: u64,
    failed: u64,
    /// The commands that repeat the failed tests.
    again: Vec<String>,
}

/// Runs groups of suites one after another. Each group comes with the number of its suites that run
/// at the same time. The output of a suite goes to a file in `target/tests`, and is shown after the
/// suite has ended. A failure does not stop the other suites.
pub fn run(groups: impl IntoIterator<Item = (Vec<Suite>, usize)>) -> Outcome {
    let (start, results) = (Instant::now(), Mutex::new(Results::default()));
    files::make_folder(target_folder().join("tests"))?;
    for (suites, at_once) in groups {
        run_group(suites, at_once, &results)?;
    }
    let Results { suites, passed, failed, again } =
        results.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("\n{suites} executables with tests: {passed} passed, {failed} failed");
    println!("({:.1} s)", start.elapsed().as_secs_f32());
    if again.is_empty() {
        return Ok(());
    }
    Err(Failed(format!("tests failed; to run them again:\n  {}", again.join("\n  "))))
}

fn run_group(suites: Vec<Suite>, at_once: usize, results: &Mutex<Results>) -> Outcome {
    println!("\n$ {} executables with tests, {at_once} at a time", suites.len());
    let queue = Mutex::new(suites.into_iter());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(suite) = next else { return Ok(()) };
            run_one(&suite, results)?;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            let panicked = |_| Failed("a thread that runs tests panicked".to_owned());
            worker.join().map_err(panicked)?
        })
    })
}

fn run_one(suite: &Suite, results: &Mutex<Results>) -> Outcome {
    let (log, start) = (suite.log(), Instant::now());
    let succeeded = suite.step.run_into(&log)?;
    let bytes = files::bytes(&log)?;
    let output = String::from_utf8_lossy(&bytes);
    // The lock also keeps the output lines of a suite together.
    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
    println!("\n     Running {} ({:.1} s)", suite.name, start.elapsed().as_secs_f32());
    print!("{output}");
    results.suites += 1;
    for (passed, failed) in output.lines().filter_map(counts) {
        results.passed += passed;
        results.failed += failed;
    }
    if !succeeded {
        results.again.extend(commands(suite, &output));
    }
    Ok(())
}

/// Returns the counts of passed and failed tests in a line such as `test result: ok. 3 passed; 0
/// failed; …`.
fn counts(line: &str) -> Option<(u64, u64)> {
    let mut parts = line.strip_prefix("test result: ")?.split("; ");
    let passed = parts.next()?.strip_suffix(" passed")?.rsplit(' ').next()?;
    Some((passed.parse().ok()?, parts.next()?.strip_suffix(" failed")?.parse().ok()?))
}

/// Returns the commands that repeat the failed tests, or the whole suite if its output lists none.
fn commands(suite: &Suite, output: &str) -> Vec<String> {
    let command = suite.step.shown();
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(format!("{command} {name} --exact"))
    };
    let found: Vec<String> = output.lines().filter_map(failed).collect();
    if found.is_empty() { vec![command] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_name_is_parsed_from_cargo_package_ids() {
        assert_eq!(package("path+file:///checkout/crates/flakeid-stores#0.1.0"), "flakeid-stores");
        assert_eq!(
            package("path+file:///checkout/tests/servers#flakeid-test-servers@0.1.0"),
            "flakeid-test-servers"
        );
    }

    #[test]
    fn test_suites_are_parsed_from_cargo_messages() {
        let message = |kind: &str, test: bool| {
            let target = serde_json::json!({"name": "postgres", "kind": [kind]});
            serde_json::json!({
                "reason": "compiler-artifact", "executable": "/target/postgres-1", "target": target,
                "manifest_path": "/checkout/crates/flakeid-stores/Cargo.toml", "profile": {"test": test},
                "package_id": "path+file:///checkout/crates/flakeid-stores#0.1.0",
            })
        };
        let name = |kind, test| Suite::of(&message(kind, test)).map(|suite| suite.name);
        assert_eq!(name("test", true).as_deref(), Some("flakeid-stores/postgres"));
        assert_eq!(name("lib", true).as_deref(), Some("flakeid-stores (unit tests)"));
        assert_eq!(name("bin", false), None);
        assert!(Suite::of(&serde_json::json!({"reason": "build-finished"})).is_none());
    }

    #[test]
    fn failed_suites_are_reported_after_all_suites_have_run() {
        let script = "echo 'test one ... ok'; echo 'test two ... FAILED'; \
                      echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 1";
        let passes = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";
        let suites = [("a/fails", script), ("b/passes", passes), ("c/dies", "kill -9 $$")]
            .map(|(name, script)| Suite::new(name, Step::new("sh", &["-c", script])));
        let why = run([(suites.into(), 2)]).err().map_or_else(String::new, |Failed(why)| why);
        assert!(why.contains("exit 1 two --exact"), "{why}");
        assert!(why.contains("kill -9 $$"), "{why}");
        assert!(!why.contains("3 passed"), "{why}");
    }

    #[test]
    fn passed_and_failed_counts_are_parsed_from_test_results() {
        let line = "test result: ok. 12 passed; 1 failed; 0 ignored; 0 measured";
        assert_eq!(counts(line), Some((12, 1)));
        assert_eq!(counts("test one ... ok"), None);
    }
}
