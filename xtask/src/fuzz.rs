//! The fuzz targets in `fuzz`, which has the layout of cargo-fuzz. They run with the stable compiler, without sanitizers:
//! the code has almost no `unsafe`, and panics and broken assertions need none.

use clap::Args;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

/// The instrumentation that libFuzzer requires.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";
const WORK: &str = "target/fuzz";

/// The targets, and the time for each.
#[derive(Args)]
pub(crate) struct Options {
    /// The time for each target, in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Fuzz only this target (may be given more than once).
    #[arg(long, value_name = "TARGET")]
    only: Vec<String>,
}

/// Runs the targets one after another. Stops at the first failure, whose input is in `target/fuzz/failures`. The
/// inputs that were found remain in `target/fuzz/corpus` for later runs.
pub(crate) fn run(options: &Options) -> Outcome {
    packages::ensure(&[("g++", "g++")])?;
    let mut targets = Vec::new();
    for path in files::with_extension("fuzz/fuzz_targets", "rs")? {
        targets.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    }
    if let Some(unknown) = options.only.iter().find(|name| !targets.contains(name)) {
        let all = targets.join(", ");
        return Err(Failed(format!("--only is {unknown}, but must be one of {all}")));
    }
    targets.retain(|name| options.only.is_empty() || options.only.contains(name));
    let triple = Step::new("rustc", &["--print", "host-tuple"]).output()?;
    let triple = triple.trim();
    // With a target, Cargo does not instrument build scripts and macros.
    Step::cargo(&["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml"])
        .args(&["--target", triple, "--target-dir", WORK])
        .env("RUSTFLAGS", FLAGS)
        .run()?;
    let seconds = format!("-max_total_time={}", options.seconds);
    for name in targets {
        let (corpus, failures) = (format!("{WORK}/corpus/{name}"), format!("{WORK}/failures"));
        files::make_folder(&corpus)?;
        files::make_folder(&failures)?;
        let program = files::shown(&root().join(format!("{WORK}/{triple}/release/{name}")))?;
        Step::new(&program, &[&seconds, "-timeout=10", "-max_len=4096", "-print_final_stats=1"])
            .args(&["-verbosity=0", &format!("-artifact_prefix={failures}/{name}-"), &corpus])
            .args(&[&format!("fuzz/seeds/{name}")])
            .run()?;
    }
    Ok(())
}
