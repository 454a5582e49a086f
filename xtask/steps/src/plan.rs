//! The steps of a long task: which of them run, in which order, and the time that each one takes.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use clap::Args;

use crate::files;
use crate::packages::{self, Program};
use crate::step::{Failed, Outcome, Step, target_folder};

/// The steps of a task to run: by default all except the long ones.
#[derive(Args, Default)]
pub struct Choice {
    /// Run only this step (may be given more than once); --list prints the steps.
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Also run the steps that take long, and the long form of the other steps.
    #[arg(long)]
    full: bool,
    /// Print the steps with their latest times, and run none.
    #[arg(long)]
    list: bool,
    /// Fail if programs are missing. Without this option, root installs their Debian packages.
    #[arg(long)]
    no_install: bool,
}

/// The place of a step in the order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Before the steps of all other lanes, one after another.
    First,
    /// One after another.
    Main,
    /// At the same time as the steps of the lane `Main`, one after another, each in a process of its own. These steps use one
    /// core most of the time, or wait.
    Side,
    /// After all others, one after another, and only in a full run.
    Long,
}

/// A step of a long task.
pub struct PlannedStep {
    /// The name, with which `--only` chooses the step.
    pub name: &'static str,
    /// The place in the order.
    pub lane: Lane,
    /// The programs that the step starts, with their Debian packages.
    pub needs: &'static [Program],
    /// Runs the step; `true` in a full run.
    pub run: fn(bool) -> Outcome,
}

/// The seconds that a step took.
#[derive(Clone, Copy)]
struct Took {
    elapsed: f64,
    /// The processor time of the processes that the step started.
    processor: f64,
}

/// The steps that have ended.
#[derive(Default)]
struct Ended {
    steps: Vec<(&'static str, Option<Took>)>,
    /// The processor time of the steps in [`Lane::Side`], which this process counts as its own.
    aside: f64,
}

/// Runs the chosen steps of `task`. Before the first one, prints which they are, and ensures that the programs of all
/// are installed.
///
/// # Errors
/// The failure of the first step that failed.
pub fn run(task: &str, steps: &[PlannedStep], choice: &Choice) -> Outcome {
    let chosen = chosen(steps, choice)?;
    let latest: Vec<_> = chosen.iter().map(|step| (step.name, latest(step.name))).collect();
    println!("{}", table("latest run", &latest));
    if choice.list {
        return Ok(());
    }
    if choice.no_install {
        packages::forbid_installation();
    }
    let needs: Vec<Program> = chosen.iter().flat_map(|step| step.needs).copied().collect();
    packages::ensure(&needs)?;
    let (start, ended) = (Instant::now(), Mutex::new(Ended::default()));
    let outcome = run_all(&chosen, choice, &ended);
    let mut rows = ended.into_inner().unwrap_or_else(PoisonError::into_inner).steps;
    let total = Took { elapsed: start.elapsed().as_secs_f64(), processor: processor_seconds() };
    rows.push(("total", Some(total)));
    println!("\n{}", table("this run", &rows));
    outcome?;
    if choice.only.is_empty() {
        println!("\n{task}: everything passed");
    }
    Ok(())
}

/// Returns the steps to run, in the order of `steps`.
fn chosen<'a>(steps: &'a [PlannedStep], choice: &Choice) -> Result<Vec<&'a PlannedStep>, Failed> {
    let names: Vec<_> = steps.iter().map(|step| step.name).collect();
    if let Some(unknown) = choice.only.iter().find(|only| !names.contains(&only.as_str())) {
        let names = names.join("\", \"");
        return Err(Failed(format!("--only {unknown:?} is not a step; the steps are \"{names}\"")));
    }
    let is_chosen = |step: &&PlannedStep| {
        if choice.only.is_empty() {
            choice.full || step.lane != Lane::Long
        } else {
            choice.only.iter().any(|only| only == step.name)
        }
    };
    Ok(steps.iter().filter(is_chosen).collect())
}

fn run_all(chosen: &[&PlannedStep], choice: &Choice, ended: &Mutex<Ended>) -> Outcome {
    let here = |step: &&PlannedStep| run_here(step, choice.full, ended);
    if !choice.only.is_empty() {
        return chosen.iter().try_for_each(here);
    }
    let of = |lane| chosen.iter().filter(move |step| step.lane == lane);
    of(Lane::First).try_for_each(here)?;
    // After a failure in one lane, the other lane ends after its current step.
    let has_failed = AtomicBool::new(false);
    let unless_failed = |outcome: Outcome| {
        has_failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome
    };
    let continues = |_: &&&PlannedStep| !has_failed.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let side = scope.spawn(|| {
            let mut steps = of(Lane::Side).take_while(continues);
            steps.try_for_each(|step| unless_failed(run_aside(step, choice, ended)))
        });
        let mut steps = of(Lane::Main).take_while(continues);
        let main = steps.try_for_each(|step| unless_failed(here(step)));
        let panicked = |_| Failed("the thread of the lane `Side` panicked".to_owned());
        main.and(side.join().map_err(panicked)?)
    })?;
    of(Lane::Long).try_for_each(here)
}

/// Runs a step in this process.
fn run_here(step: &PlannedStep, full: bool, ended: &Mutex<Ended>) -> Outcome {
    println!("\n== {}", step.name);
    let processor = || processor_seconds() - lock(ended).aside;
    let (start, before) = (Instant::now(), processor());
    let outcome = (step.run)(full);
    let took =
        Took { elapsed: start.elapsed().as_secs_f64(), processor: (processor() - before).max(0.0) };
    lock(ended).steps.push((step.name, Some(took)));
    files::write(record(step.name), format!("{:.1} {:.1}\n", took.elapsed, took.processor))?;
    outcome
}

/// Runs a step in a process of its own, and shows its output after it has ended.
fn run_aside(step: &PlannedStep, choice: &Choice, ended: &Mutex<Ended>) -> Outcome {
    let program = std::env::current_exe()
        .map_err(|error| Failed(format!("cannot find the path of this program: {error}")))?;
    let options = [("--full", choice.full), ("--no-install", choice.no_install)];
    let options = options.iter().filter(|(_, is_given)| *is_given).map(|(option, _)| *option);
    let child = Step::new(&files::shown(&program)?, &["test", "--only", step.name])
        .args(&options.collect::<Vec<_>>());
    let folder = target_folder().join("tests");
    files::make_folder(&folder)?;
    let log = folder.join(format!("{}.log", files::plain_name(step.name)));
    let succeeded = child.run_into(&log)?;
    print!("\n{}", String::from_utf8_lossy(&files::bytes(&log)?));
    let took = latest(step.name);
    let mut ended = lock(ended);
    ended.aside += took.map_or(0.0, |took| took.processor);
    ended.steps.push((step.name, took));
    drop(ended);
    if succeeded { Ok(()) } else { Err(Failed(format!("failed: {}", child.shown()))) }
}

fn lock(ended: &Mutex<Ended>) -> MutexGuard<'_, Ended> {
    ended.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the processor time, in seconds, of all processes that this process started and waited for. It is 0 on
/// systems other than Linux.
fn processor_seconds() -> f64 {
    /// The number of ticks in a second that Linux reports to programs on every processor.
    const TICKS: f64 = 100.0;
    let status = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces. The fields 16 and 17 of proc_pid_stat(5) are
    // `cutime` and `cstime`; the first field after the name is the third.
    let fields = status.rsplit_once(") ").map_or("", |(_, fields)| fields);
    fields.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / TICKS
}

/// Returns the file with the times of a step's latest run.
fn record(name: &str) -> PathBuf {
    target_folder().join("tests").join("times").join(files::plain_name(name))
}

/// Returns the times of a step's latest run in this checkout.
fn latest(name: &str) -> Option<Took> {
    let text = files::text(record(name)).ok()?;
    let (elapsed, processor) = text.trim().split_once(' ')?;
    Some(Took { elapsed: elapsed.parse().ok()?, processor: processor.parse().ok()? })
}

/// Returns a table of steps with their times.
fn table(title: &str, rows: &[(&str, Option<Took>)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(title.len());
    let row = |(name, took): &(&str, Option<Took>)| {
        let shown = |seconds: fn(&Took) -> f64| {
            took.as_ref().map_or_else(|| "-".to_owned(), |took| format!("{:.1}", seconds(took)))
        };
        let (elapsed, processor) = (shown(|took| took.elapsed), shown(|took| took.processor));
        format!("{name:width$}  {elapsed:>7}  {processor:>13}")
    };
    let head = format!("{title:width$}  seconds  of processors");
    [vec![head], rows.iter().map(row).collect()].concat().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [PlannedStep; 4] = [
        step("a test: main", Lane::Main, |_| Ok(())),
        step("a test: first", Lane::First, |_| Ok(())),
        step("a test: long", Lane::Long, |full| {
            if full { Ok(()) } else { Err(Failed("short".to_owned())) }
        }),
        step("a test: fails", Lane::Main, |_| Err(Failed("on purpose".to_owned()))),
    ];

    const fn step(name: &'static str, lane: Lane, run: fn(bool) -> Outcome) -> PlannedStep {
        PlannedStep { name, lane, needs: &[], run }
    }

    fn names(steps: &[PlannedStep], choice: &Choice) -> Vec<&'static str> {
        let ended = Mutex::new(Ended::default());
        let chosen = chosen(steps, choice).unwrap_or_default();
        drop(run_all(&chosen, choice, &ended));
        lock(&ended).steps.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn first_steps_run_before_the_others_and_long_steps_only_in_a_full_run() {
        let steps = &STEPS[..3];
        assert_eq!(names(steps, &Choice::default()), ["a test: first", "a test: main"]);
        let full = Choice { full: true, ..Choice::default() };
        assert_eq!(names(steps, &full), ["a test: first", "a test: main", "a test: long"]);
        let only = Choice { only: vec!["a test: long".to_owned()], ..Choice::default() };
        assert_eq!(names(steps, &only), ["a test: long"]);
    }

    #[test]
    fn failed_step_is_in_the_table_and_ends_the_run() {
        let ended = Mutex::new(Ended::default());
        let chosen: Vec<_> = [&STEPS[3], &STEPS[0]].into();
        let why = run_all(&chosen, &Choice::default(), &ended).err().map(|Failed(why)| why);
        assert_eq!(why.as_deref(), Some("on purpose"));
        let table = table("this run", &lock(&ended).steps);
        assert!(table.lines().any(|line| line.starts_with("a test: fails")), "{table}");
        assert!(!table.contains("a test: main"), "{table}");
    }

    #[test]
    fn unknown_steps_are_refused_before_any_step_runs() {
        let only = |name: &str| Choice { only: vec![name.to_owned()], ..Choice::default() };
        let why = run("a task", &STEPS, &only("first")).err().map_or_else(String::new, |why| why.0);
        assert!(why.contains("--only \"first\" is not a step"), "{why}");
    }

    /// The step in the lane `Side` is this test executable, which fails because it has no such option.
    #[test]
    fn failure_in_the_lane_side_fails_the_run() {
        let steps = [step("a test: side", Lane::Side, |_| Ok(()))];
        let why =
            run("a task", &steps, &Choice::default()).err().map_or_else(String::new, |why| why.0);
        assert!(why.contains("test --only a test: side"), "{why}");
    }

    #[test]
    fn times_of_the_latest_run_are_recorded_with_the_processor_time_of_children() -> Outcome {
        fn burn(_: bool) -> Outcome {
            Step::new("sh", &["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]).run()
        }
        let ended = Mutex::new(Ended::default());
        run_here(&step("a test: burns", Lane::Main, burn), false, &ended)?;
        let took = latest("a test: burns").ok_or_else(|| Failed("no record".to_owned()))?;
        assert!(!cfg!(target_os = "linux") || took.processor > 0.0);
        Ok(())
    }
}
