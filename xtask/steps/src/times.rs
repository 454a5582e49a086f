//! The steps of a long task: the choice of steps to run, and the duration of each step.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use crate::background::Background;
use crate::inputs::Inputs;
use crate::step::{Failed, Outcome};
use clap::Args;

/// The steps of a task to run: by default all except those whose inputs have not changed since they
/// passed. If the variable `CI` is set, all steps run.
#[derive(Args, Default)]
pub struct Choice {
    /// Run only this step (may be given more than once); --list prints the steps.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Also run steps whose inputs have not changed since they passed.
    #[arg(long)]
    all: bool,
    /// Print the names of the steps, and run none.
    #[arg(long, conflicts_with = "only")]
    list: bool,
}

impl Choice {
    /// Returns a choice that runs no step, and prints the names of all.
    pub const fn list() -> Self {
        Self { only: Vec::new(), all: false, list: true }
    }

    fn has(&self, name: &str) -> bool {
        !self.list && (self.only.is_empty() || self.only.iter().any(|one| one == name))
    }

    /// Whether unchanged steps are skipped.
    fn skips_unchanged(&self) -> bool {
        !self.all && self.only.is_empty() && std::env::var_os("CI").is_none()
    }

    /// Checks, before anything runs, that every chosen step exists.
    pub fn check(&self, steps: impl FnOnce(&mut Times) -> Outcome) -> Outcome {
        let mut listed = Times::new(Self::list());
        steps(&mut listed)?;
        let unknown = self.only.iter().find(|one| !listed.names.contains(&one.as_str()));
        unknown.map_or(Ok(()), |unknown| {
            let names = listed.names.join("\", \"");
            Err(Failed(format!("--only {unknown:?} is not a step; the steps are \"{names}\"")))
        })
    }
}

/// The times of the steps.
pub struct Times {
    choice: Choice,
    names: Vec<&'static str>,
    start: Instant,
    /// Skipped steps have no duration.
    steps: Vec<(&'static str, Option<Duration>)>,
    background: Vec<Background>,
}

impl Times {
    /// Creates an empty list of steps, and starts the clock.
    pub fn new(choice: Choice) -> Self {
        let (names, steps, background) = (Vec::new(), Vec::new(), Vec::new());
        Self { choice, names, start: Instant::now(), steps, background }
    }

    /// Runs a step if it was chosen, and records its duration even if it fails.
    pub fn step(&mut self, name: &'static str, run: impl FnOnce() -> Outcome) -> Outcome {
        self.names.push(name);
        if !self.choice.has(name) {
            return Ok(());
        }
        for background in &mut self.background {
            if let Some(ended) = background.wait_for(name)? {
                self.steps.push((name, Some(ended.took)));
                return ended.outcome;
            }
        }
        let start = Instant::now();
        let outcome = run();
        self.steps.push((name, Some(start.elapsed())));
        outcome
    }

    /// Starts steps of [`Self::step_without`] in the background, in the given order. Has no
    /// effect unless all steps run.
    pub fn begin(&mut self, steps: &[(&'static str, &[&[&str]])]) -> Outcome {
        if !self.is_complete() {
            return Ok(());
        }
        let mut names = Vec::new();
        for (name, unrelated) in steps {
            if !(self.choice.skips_unchanged() && Inputs::of(name, unrelated)?.passed()) {
                names.push(*name);
            }
        }
        if !names.is_empty() {
            self.background.push(Background::start(names)?);
        }
        Ok(())
    }

    /// Runs a step that does not depend on the given files and folders. Skips the step if it
    /// passed before and all its inputs are unchanged.
    pub fn step_without(
        &mut self,
        name: &'static str,
        unrelated: &[&[&str]],
        run: impl FnOnce() -> Outcome,
    ) -> Outcome {
        if !self.choice.has(name) {
            return self.step(name, run);
        }
        let inputs = Inputs::of(name, unrelated)?;
        if self.choice.skips_unchanged() && inputs.passed() {
            println!("\n{name}: unchanged since it passed; --all runs it again");
            self.names.push(name);
            self.steps.push((name, None));
            return Ok(());
        }
        self.step(name, || {
            inputs.forget()?;
            run()?;
            inputs.remember()
        })
    }

    /// Whether tests that passed before are skipped if their inputs have not changed.
    pub fn skips_unchanged(&self) -> bool {
        self.choice.skips_unchanged()
    }

    /// Whether every step ran, or had passed before.
    pub const fn is_complete(&self) -> bool {
        !self.choice.list && self.choice.only.is_empty()
    }
}

/// Shows a table of the steps that ran, with the total, or only the names of all steps.
impl Display for Times {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        if self.choice.list {
            return writeln!(formatter, "{}", self.names.join("\n"));
        }
        let total = ("total", Some(self.start.elapsed()));
        let width = self.steps.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let width = width.max(total.0.len());
        writeln!(formatter, "{:width$}    seconds", "step")?;
        for (name, duration) in self.steps.iter().chain([&total]) {
            let seconds = duration.map(|duration| format!("{:.1}", duration.as_secs_f64()));
            let shown = seconds.unwrap_or_else(|| "unchanged".to_owned());
            writeln!(formatter, "{name:width$}  {shown:>9}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(times: &Times) -> Vec<String> {
        let table = times.to_string();
        table.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    #[test]
    fn table_of_times_contains_passed_and_failed_steps() {
        let mut times = Times::new(Choice::default());
        assert!(times.step("lint", || Ok(())).is_ok());
        assert!(times.step("languages", || Err(Failed("no".to_owned()))).is_err());
        assert_eq!(names(&times), ["step", "lint", "languages", "total"]);
        let table = times.to_string();
        assert!(table.lines().all(|line| line.len() == "languages    seconds".len()), "{table}");
    }

    #[test]
    fn only_chosen_steps_are_run() {
        let only = vec!["two".to_owned()];
        let mut times = Times::new(Choice { only, ..Choice::default() });
        assert!(times.step("one", || Err(Failed("not chosen".to_owned()))).is_ok());
        assert!(times.step("two", || Ok(())).is_ok());
        assert_eq!(names(&times), ["step", "two", "total"]);
    }

    #[test]
    fn check_rejects_unknown_steps() {
        let chosen = |only: &str| Choice { only: vec![only.to_owned()], ..Choice::default() };
        let steps =
            |times: &mut Times| times.step("one", || Err(Failed("nothing runs".to_owned())));
        assert!(chosen("one").check(steps).is_ok());
        assert!(chosen("on").check(steps).is_err());
        assert!(Choice::default().check(steps).is_ok());
    }

    #[test]
    fn passed_step_is_skipped_until_its_inputs_change() -> Outcome {
        let name = "times, a test";
        let run = |choice: Choice, unrelated: &[&str], outcome: Outcome| {
            let mut times = Times::new(choice);
            let outcome = times.step_without(name, &[unrelated], || outcome);
            (outcome.is_ok(), times.to_string().contains("unchanged"))
        };
        let failed = || Err(Failed("it ran".to_owned()));
        let skips_unchanged = std::env::var_os("CI").is_none();
        assert_eq!(run(Choice::default(), &[], failed()), (false, false));
        assert_eq!(run(Choice::default(), &[], Ok(())), (true, false));
        assert_eq!(run(Choice::default(), &[], failed()), (skips_unchanged, skips_unchanged));
        assert_eq!(run(Choice::default(), &["docs"], Ok(())), (true, false));
        let all = Choice { all: true, ..Choice::default() };
        assert_eq!(run(all, &[], failed()), (false, false));
        let only = Choice { only: vec![name.to_owned()], ..Choice::default() };
        assert_eq!(run(only, &[], failed()), (false, false));
        Inputs::of(name, &[])?.forget()
    }

    /// The background step runs this test executable, which fails because it has no step of that
    /// name.
    #[test]
    fn failed_background_step_is_reported_only_when_its_turn_comes() -> Outcome {
        let run = || {
            let all = Choice { all: true, ..Choice::default() };
            let mut times = Times::new(all);
            times.begin(&[("begun, a test", &[]), ("never requested", &[])])?;
            times.step("another one", || Ok(()))?;
            times.step("begun, a test", || Ok(()))
        };
        let why = run().err().map_or_else(String::new, |Failed(why)| why);
        assert!(why.contains("test --only begun, a test"), "{why}");
        let only = Choice { only: vec!["begun, a test".to_owned()], ..Choice::default() };
        let mut times = Times::new(only);
        times.begin(&[("begun, a test", &[])])?;
        times.step("begun, a test", || Ok(()))
    }

    #[test]
    fn list_option_shows_steps_without_running_them() {
        let mut times = Times::new(Choice::list());
        assert!(times.step("one", || Err(Failed("done".to_owned()))).is_ok());
        assert_eq!(names(&times), ["one"]);
    }
}
