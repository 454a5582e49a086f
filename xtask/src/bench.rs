use crate::command::{Outcome, Step};

/// The benchmarks are a workspace of their own, because they pull in every rival.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut all =
        vec!["run", "--release", "--locked", "--manifest-path", "benches/Cargo.toml", "--"];
    all.extend(arguments.iter().map(String::as_str));
    Step::cargo(&all).run()
}
