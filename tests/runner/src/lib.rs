//! A runner for tests with a `main` of their own (`harness = false`). It runs them one after another on the main thread,
//! so that the process has a single thread when a test forks. Its arguments and its output match Rust's own test runner,
//! as cargo, cargo-nextest and `cargo xtask test` expect.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// The exit code of Rust's own test runner if a test fails.
const FAILED: u8 = 101;

/// Lists functions together with their names.
#[macro_export]
macro_rules! tests {
    ($($(#[$attribute:meta])* $function:ident),* $(,)?) => {
        [$($(#[$attribute])* (stringify!($function), $function as fn())),*]
    };
}

/// Runs the tests that the arguments of this process select, or lists them.
pub fn run<N: Into<String>, F: FnOnce()>(tests: impl IntoIterator<Item = (N, F)>) -> ExitCode {
    match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => ExitCode::from(arguments.run(tests)),
        Err(unknown) => {
            eprintln!("this test runner does not support the argument {unknown}");
            ExitCode::from(FAILED)
        }
    }
}

/// The arguments of Rust's own test runner that affect this runner.
#[derive(Default)]
struct Arguments {
    filters: Vec<String>,
    skipped: Vec<String>,
    is_exact: bool,
    is_list: bool,
    /// Whether to run only ignored tests. This runner has none.
    is_ignored: bool,
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::default();
        while let Some(argument) = arguments.next() {
            let (option, value) = match argument.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value.into())),
                _ => (argument.as_str(), None),
            };
            match option {
                "--exact" => parsed.is_exact = true,
                "--list" => parsed.is_list = true,
                "--ignored" => parsed.is_ignored = true,
                "--skip" => parsed.skipped.extend(value.or_else(|| arguments.next())),
                // Every test runs on one thread, without capturing output.
                "--color" | "--format" | "--logfile" | "--test-threads" => {
                    drop(value.or_else(|| arguments.next()));
                }
                "--include-ignored" | "--no-capture" | "--nocapture" | "--quiet"
                | "--show-output" | "-q" => {}
                _ if option.starts_with('-') => return Err(argument),
                _ => parsed.filters.push(argument),
            }
        }
        Ok(parsed)
    }

    fn selects(&self, name: &str) -> bool {
        let matches =
            |part: &String| if self.is_exact { name == part } else { name.contains(part) };
        !self.is_ignored
            && (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skipped.iter().any(matches)
    }

    /// Returns the exit code.
    fn run<N: Into<String>, F: FnOnce()>(&self, tests: impl IntoIterator<Item = (N, F)>) -> u8 {
        let mut names = HashSet::new();
        let tests =
            tests.into_iter().map(|(name, test)| (name.into(), test)).inspect(|(name, _)| {
                assert!(names.insert(name.clone()), "two tests have the name {name}");
            });
        let (selected, others): (Vec<(String, F)>, Vec<_>) =
            tests.partition(|(name, _)| self.selects(name));
        if self.is_list {
            for (name, _) in &selected {
                println!("{name}: test");
            }
            return 0;
        }
        let (started, count) = (Instant::now(), selected.len());
        println!("\nrunning {count} tests");
        let mut failed = Vec::new();
        for (name, test) in selected {
            if catch_unwind(AssertUnwindSafe(test)).is_ok() {
                println!("test {name} ... ok");
            } else {
                println!("test {name} ... FAILED");
                failed.push(name);
            }
        }
        if !failed.is_empty() {
            println!("\nfailures:\n    {}", failed.join("\n    "));
        }
        println!(
            "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
            if failed.is_empty() { "ok" } else { "FAILED" },
            count - failed.len(),
            failed.len(),
            others.len(),
            started.elapsed().as_secs_f64()
        );
        if failed.is_empty() { 0 } else { FAILED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the tests that run with these arguments, and the exit code.
    fn run(arguments: &str) -> (Vec<&'static str>, u8) {
        let arguments = Arguments::parse(arguments.split_whitespace().map(str::to_owned));
        let ran = std::cell::RefCell::default();
        let record = |name: &'static str| {
            let ran: &std::cell::RefCell<Vec<_>> = &ran;
            move || {
                ran.borrow_mut().push(name);
                assert!(!name.starts_with("bad"), "a bad test fails");
            }
        };
        let names = ["fork", "fork_in_a_thread", "bad_fork"];
        let code = arguments.unwrap_or_default().run(names.map(|name| (name, record(name))));
        (ran.into_inner(), code)
    }

    #[test]
    fn arguments_select_tests_by_name_or_part() {
        assert_eq!(run("--exact fork --nocapture"), (vec!["fork"], 0));
        assert_eq!(run("thread --test-threads 1"), (vec!["fork_in_a_thread"], 0));
        assert_eq!(run("fork --skip bad"), (vec!["fork", "fork_in_a_thread"], 0));
        assert_eq!(run("--ignored"), (vec![], 0));
        assert_eq!(run("--list --format=terse"), (vec![], 0));
    }

    #[test]
    fn failed_test_does_not_stop_the_others_and_sets_the_exit_code() {
        assert_eq!(run("--test-threads=4").1, FAILED);
        assert_eq!(run("").0.len(), 3);
    }

    #[test]
    fn unknown_arguments_are_rejected() {
        let parsed = Arguments::parse(["--shuffle".to_owned()].into_iter());
        assert_eq!(parsed.err().as_deref(), Some("--shuffle"));
    }
}
