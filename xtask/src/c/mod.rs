//! The C library as users get it, and the proof that other languages can link it.
//!
//! cargo-c would do much of the packing, but it is a program of three hundred crates to install,
//! and its archives have no `CMake` package.

mod archive;
mod languages;
mod programs;

use flakeid_steps::{Failed, Outcome, Step, packages, root};

use crate::platform::Target;

pub(crate) use archive::{build, installed};
pub(crate) use languages::jars;

const NEEDED: [(&str, &str); 12] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang", "clang"),
    ("valgrind", "valgrind"),
    ("cmake", "cmake"),
    ("make", "make"),
    ("nm", "binutils"),
    ("pkg-config", "pkg-config"),
    ("/usr/include/jansson.h", "libjansson-dev"),
    ("javac", "openjdk-17-jdk-headless"),
    ("mvn", "maven"),
    ("go", "golang-go"),
];

/// Builds the archive, unpacks it into an empty prefix, and links programs in C, C++, Go and Java
/// with it.
pub(crate) fn test(target: &Target) -> Outcome {
    if !target.runs_here()? {
        return Err(Failed(format!("programs for {} do not run here", target.platform.triple)));
    }
    packages::ensure(&NEEDED)?;
    programs::sanitizers_of_clang()?;
    Step::cargo(&["test", "--locked", "-p", "flakeid-c"]).run()?;
    let place = installed(target, "target/c/prefix")?;
    programs::symbols(&place)?;
    programs::c(&place)?;
    programs::cpp(&place)?;
    languages::go(&place)?;
    languages::java(&place)
}

/// What measures the C border beside the same loops in Rust, compiled.
pub(crate) fn bench() -> Result<Step, Failed> {
    packages::ensure(&[("gcc", "gcc")])?;
    let here = Target::new(None)?;
    let work = root().join("target/c/bench");
    let prefix = installed(&here, "target/c/bench/prefix")?.prefix;
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
