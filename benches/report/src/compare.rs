//! The comparison of two commits, whose benchmarks run alternately.

use std::path::PathBuf;

use clap::Args;

use crate::data::{Suite, median};
use flakeid_steps::{Failed, Outcome, Step, files, root};

/// Folder of all builds.
const WORK: &str = "target/bench";
const MANIFEST: &str = "benches/Cargo.toml";

#[derive(Args)]
pub(crate) struct Compare {
    /// Base of the ratios: a commit, tag or branch.
    old: String,
    new: String,
    /// Table of the Rust benchmark: cost, threads, cap, batch, lease, latency, resources or correctness.
    #[arg(long, default_value = "cost", value_name = "TABLE")]
    only: String,
    /// Number of runs of each.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Run fewer and shorter samples; the figures mean little.
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(compare: &Compare) -> Outcome {
    let commits = [resolve(&compare.old)?, resolve(&compare.new)?];
    let programs = [build(&commits[0])?, build(&commits[1])?];
    let mut rounds = Vec::new();
    for round in 0..compare.rounds {
        eprintln!("round {} of {}", round + 1, compare.rounds);
        // Each commit runs first equally often.
        let swapped = round % 2 == 1;
        let [first, second] = if swapped { [1, 0] } else { [0, 1] };
        let one = measure(&programs[first], compare)?;
        let other = measure(&programs[second], compare)?;
        rounds.push(if swapped { [other, one] } else { [one, other] });
    }
    let [old, new] = commits.each_ref().map(|commit| &commit[..12]);
    print!(
        "\nThe table `{}` of {old} (old) and {new} (new), {} rounds of both, alternately. Rows that \
         no commit changes, such as F and rivals, show how much is noise.\n\n{}",
        compare.only,
        compare.rounds,
        table(&rounds)
    );
    Ok(())
}

/// Returns the whole hash of a commit.
fn resolve(name: &str) -> Result<String, Failed> {
    let commit = format!("{name}^{{commit}}");
    Step::new("git", &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
        .output()
        .map(|hash| hash.trim().to_owned())
        .map_err(|_| Failed(format!("this repository has no commit {name}")))
}

/// Builds the benchmarks of a commit with the code of that commit.
fn build(commit: &str) -> Result<String, Failed> {
    let short = &commit[..12];
    let folder = root().join(WORK).join("compare");
    let worktree = Worktree::new(folder.join("tree"), commit)?;
    let built = folder.join("build");
    Step::cargo(&["build", "--release", "--locked", "--manifest-path", MANIFEST])
        .within(&worktree.path)
        .env("CARGO_TARGET_DIR", &built)
        .run()?;
    let name = format!("flakeid-bench{}", std::env::consts::EXE_SUFFIX);
    let program = folder.join(short).join(&name);
    files::copy(built.join("release").join(&name), &program)?;
    let program = files::shown(&program)?;
    if Step::new(&program, &["--help"]).output()?.contains("--json") {
        return Ok(program);
    }
    Err(Failed(format!("the benchmarks of {short} have no option --json")))
}

/// A Git worktree with the files of a commit, which is removed when dropped.
struct Worktree {
    path: PathBuf,
}

impl Worktree {
    fn new(path: PathBuf, commit: &str) -> Result<Self, Failed> {
        let worktree = Self { path };
        // The files of an interrupted run.
        files::remove(&worktree.path)?;
        Step::new("git", &["worktree", "prune"]).run()?;
        let shown = files::shown(&worktree.path)?;
        Step::new("git", &["worktree", "add", "--quiet", "--detach", &shown, commit]).run()?;
        Ok(worktree)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        let path = self.path.display().to_string();
        if let Err(Failed(why)) = Step::new("git", &["worktree", "remove", "--force", &path]).run()
        {
            eprintln!("flakeid-bench-report: cannot remove {path}: {why}");
        }
    }
}

fn measure(program: &str, compare: &Compare) -> Result<Suite, Failed> {
    let file = files::shown(&root().join(WORK).join("compare/figures.json"))?;
    Step::new(program, &["--only", &compare.only, "--json", &file])
        .args(if compare.quick { &["--quick"] } else { &[] })
        .printed()?;
    Suite::read(&file)
}

/// Formats the rows that both commits have, with the ratio of new to old.
fn table(rounds: &[[Suite; 2]]) -> String {
    let mut table =
        "| | unit | old | new | new / old | min..max |\n|---|---|---:|---:|---:|---:|\n".to_owned();
    let Some([_, newest]) = rounds.first() else { return table };
    for row in &newest.rows {
        let found: Vec<[f64; 2]> = rounds.iter().filter_map(|round| both(round, &row.id)).collect();
        let [old, new] =
            [0, 1].map(|side| median(&found.iter().map(|pair| pair[side]).collect::<Vec<_>>()));
        let ratios: Vec<f64> = found.iter().map(|[old, new]| new / old).collect();
        let line = if ratios.is_empty() {
            format!("| {} | {} | – | – | only in new | |\n", row.label, row.unit)
        } else {
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!(
                "| {} | {} | {old:.3} | {new:.3} | {:.3} | {least:.3}..{most:.3} |\n",
                row.label,
                row.unit,
                median(&ratios),
            )
        };
        table.push_str(&line);
    }
    table
}

/// Returns the medians of a row in one round.
fn both([old, new]: &[Suite; 2], id: &str) -> Option<[f64; 2]> {
    let of = |suite: &Suite| suite.rows.iter().find(|row| row.id == id)?.median;
    Some([of(old)?, of(new)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Role, suite_of};

    fn round(old: f64, new: f64) -> [Suite; 2] {
        let floor = ("F", Role::Floor, 1.0);
        [
            suite_of("Rust", &[floor, ("next", Role::Ours, old)]),
            suite_of("Rust", &[floor, ("next", Role::Ours, new), ("fresh", Role::Ours, 1.0)]),
        ]
    }

    #[test]
    fn comparison_table_shows_the_median_ratio_of_all_rounds() {
        let table = table(&[round(1.0, 0.5), round(2.0, 1.2), round(1.0, 0.7)]);
        assert!(table.contains("| F | ns | 30.000 | 30.000 | 1.000 | 1.000..1.000 |\n"), "{table}");
        assert!(
            table.contains("| next | ns | 30.000 | 21.000 | 0.600 | 0.500..0.700 |\n"),
            "{table}"
        );
        assert!(table.contains("| fresh | ns | – | – | only in new | |\n"), "{table}");
    }

    #[test]
    fn unknown_commit_error_contains_the_commit_name() {
        let why = resolve("no-such-commit").err().map(|Failed(why)| why);
        let expected = "this repository has no commit no-such-commit";
        assert_eq!(why.as_deref(), Some(expected));
    }
}
