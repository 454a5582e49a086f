//! How long each step of a long task took.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use crate::command::Outcome;

pub(crate) struct Times {
    start: Instant,
    steps: Vec<(&'static str, Duration)>,
}

impl Times {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), steps: Vec::new() }
    }

    /// Runs a step and notes how long it took, also if it failed.
    pub(crate) fn step(&mut self, name: &'static str, run: impl FnOnce() -> Outcome) -> Outcome {
        let start = Instant::now();
        let outcome = run();
        self.steps.push((name, start.elapsed()));
        outcome
    }
}

/// A table in the order of the steps, with the total below.
impl Display for Times {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
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
    use super::Times;
    use crate::command::Failed;

    #[test]
    fn the_table_has_every_step_also_one_that_failed() {
        let mut times = Times::new();
        assert!(times.step("lint", || Ok(())).is_ok());
        assert!(times.step("languages", || Err(Failed("no".to_owned()))).is_err());
        let table = times.to_string();
        let names: Vec<_> = table.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["step", "lint", "languages", "total"]);
        assert!(table.lines().all(|line| line.len() == "languages  seconds".len()), "{table}");
    }
}
