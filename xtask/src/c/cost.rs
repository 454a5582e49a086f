//! What the C border costs, beside the same loops in Rust.

use super::archive;
use crate::command::{Failed, Step, root};
use crate::files;
use crate::packages;
use crate::platform::Target;

/// What measures it, compiled.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&[("gcc", "gcc")])?;
    let here = Target::new(None)?;
    archive::build(&here)?;
    let work = root().join("target/c/bench");
    let prefix = archive::install(&here, &work.join("prefix"))?;
    files::make_folder(&work)?;
    let (target, library) = (work.display().to_string(), prefix.join("lib"));
    Step::cargo(&["build", "--release", "--locked", "--manifest-path", "benches/c/Cargo.toml"])
        .args(&["--target-dir", &target])
        .run()?;
    let program = work.join("bench").display().to_string();
    let rust = work.join("release");
    let include = format!("-I{}", prefix.join("include").display());
    let folders = [format!("-L{}", library.display()), format!("-L{}", rust.display())];
    let at_run_time = format!("-Wl,-rpath,{}:{}", library.display(), rust.display());
    Step::new("gcc", &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2"])
        .args(&["benches/c/bench.c", "-o", &program, &include, &folders[0], &folders[1]])
        .args(&["-lflakeid", "-lrust_loops", &at_run_time])
        .run()?;
    Ok(Step::new(&program, &[]))
}
