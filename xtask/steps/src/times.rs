//! The steps of a long task: which of them to run, and how long each took.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use crate::step::{Failed, Outcome};
use clap::Args;

/// Which steps of a task to run: all unless chosen.
#[derive(Args, Default)]
pub struct Choice {
    /// Only this step (may be given more than once): one that --list names.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Name the steps, and run none.
    #[arg(long, conflicts_with = "only")]
    list: bool,
}

impl Choice {
    /// Names the steps and runs none.
    pub const fn list() -> Self {
        Self { only: Vec::new(), list: true }
    }

    /// Fails, before anything runs, if a step was chosen that is not among these.
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

/// How long each step took.
pub struct Times {
    choice: Choice,
    names: Vec<&'static str>,
    start: Instant,
    steps: Vec<(&'static str, Duration)>,
}

impl Times {
    /// Before the first step.
    pub fn new(choice: Choice) -> Self {
        Self { choice, names: Vec::new(), start: Instant::now(), steps: Vec::new() }
    }

    /// Runs a step if it was chosen, and records how long it took, even if it failed.
    pub fn step(&mut self, name: &'static str, run: impl FnOnce() -> Outcome) -> Outcome {
        let Choice { only, list } = &self.choice;
        self.names.push(name);
        if *list || !(only.is_empty() || only.iter().any(|one| one == name)) {
            return Ok(());
        }
        let start = Instant::now();
        let outcome = run();
        self.steps.push((name, start.elapsed()));
        outcome
    }

    /// Whether every step was run.
    pub const fn is_complete(&self) -> bool {
        !self.choice.list && self.choice.only.is_empty()
    }
}

/// A table of the steps that were run, with the total below; or only the names of all.
impl Display for Times {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        if self.choice.list {
            return writeln!(formatter, "{}", self.names.join("\n"));
        }
        let total = ("total", self.start.elapsed());
        let width = self.steps.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let width = width.max(total.0.len());
        writeln!(formatter, "{:width$}  seconds", "step")?;
        for (name, duration) in self.steps.iter().chain([&total]) {
            writeln!(formatter, "{name:width$}  {:7.1}", duration.as_secs_f64())?;
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
    fn the_table_has_every_step_also_one_that_failed() {
        let mut times = Times::new(Choice::default());
        assert!(times.step("lint", || Ok(())).is_ok());
        assert!(times.step("languages", || Err(Failed("no".to_owned()))).is_err());
        assert_eq!(names(&times), ["step", "lint", "languages", "total"]);
        let table = times.to_string();
        assert!(table.lines().all(|line| line.len() == "languages  seconds".len()), "{table}");
    }

    #[test]
    fn only_what_was_chosen_is_done() {
        let only = vec!["two".to_owned()];
        let mut times = Times::new(Choice { only, list: false });
        assert!(times.step("one", || Err(Failed("not chosen".to_owned()))).is_ok());
        assert!(times.step("two", || Ok(())).is_ok());
        assert_eq!(names(&times), ["step", "two", "total"]);
    }

    #[test]
    fn what_is_chosen_has_to_be_a_step() {
        let chosen = |only: &str| Choice { only: vec![only.to_owned()], list: false };
        let steps =
            |times: &mut Times| times.step("one", || Err(Failed("nothing runs".to_owned())));
        assert!(chosen("one").check(steps).is_ok());
        assert!(chosen("on").check(steps).is_err());
        assert!(Choice::default().check(steps).is_ok());
    }

    #[test]
    fn a_list_does_nothing() {
        let mut times = Times::new(Choice::list());
        assert!(times.step("one", || Err(Failed("done".to_owned()))).is_ok());
        assert_eq!(names(&times), ["one"]);
    }
}
