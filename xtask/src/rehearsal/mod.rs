//! The rehearsal of a release: builds every package that this machine can build, publishes this machine's packages to
//! local registries, and installs them from there in empty folders, as users do.

mod artifact;
mod compiled;
mod other_linux;
mod registries;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::ValueEnum;
use flakeid_steps::{Failed, Outcome, Step, files, packages, root};

use artifact::{Artifact, PLATFORM, WORK, empty_folder, sum};

use crate::platform::{RELEASED, Target};
use crate::{deploy, kubernetes, publish, sbom, tutorials, wasm};

/// The platform of the command and of the image.
const STATIC: &str = "x86_64-unknown-linux-musl";

/// Packages that are built, published and installed together.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The packages for Linux on ARM64 and with musl.
    OtherLinux,
    /// The crates, for crates.io.
    Crates,
    /// The wheel and the sdist, for `PyPI`.
    Python,
    /// The packages for npm, with WebAssembly.
    Npm,
    /// The archive of the C library.
    C,
    /// The Go module.
    Go,
    /// The jar, for Maven Central.
    Java,
    /// The archive of the command, the script that installs it, and the packages for Debian and RPM.
    Command,
    /// The software bills of materials.
    Sbom,
    /// The build context of the image, and the Helm chart.
    Image,
    /// The page that explains IDs, and the guide.
    Guide,
}

/// Runs the rehearsal of the given parts, or of all parts. Prints a table of the artifacts, and writes their hashes to
/// `target/rehearsal/SHA256SUMS`. If `other` is the same file of another rehearsal, compares the artifacts that must
/// have the same bytes.
pub(crate) fn run(only: &[Part], other: Option<&Path>) -> Outcome {
    packages::ensure(&[("sha256sum", "coreutils"), ("curl", "curl")])?;
    publish::check_versions()?;
    let parts = if only.is_empty() { Part::value_variants() } else { only };
    files::empty(WORK)?;
    let mut artifacts = Vec::new();
    for part in parts {
        artifacts.extend(rehearse(*part)?);
    }
    let mut table =
        String::from("artifact, bytes, SHA-256, whether another build has the same bytes\n");
    let mut sums = String::new();
    for artifact in &artifacts {
        let (sum, name) = (sum(&artifact.path)?, artifact.name());
        let bytes = fs::metadata(root().join(&artifact.path))
            .map_err(|error| files::failed(&artifact.path, &error))?
            .len();
        let same = if artifact.is_reproducible { "yes" } else { "" };
        _ = writeln!(table, "{name:<58} {bytes:>10} {sum} {same}");
        _ = writeln!(sums, "{sum}  {name}");
    }
    files::write(format!("{WORK}/SHA256SUMS"), &sums)?;
    println!("\n{table}");
    println!("Only the workflow `release` builds the packages for:");
    for platform in RELEASED.iter().filter(|platform| platform.system != "linux") {
        println!("  {}", platform.triple);
    }
    other.map_or(Ok(()), |other| compare(&artifacts, &sums, &files::text(other)?))
}

fn rehearse(part: Part) -> Result<Vec<Artifact>, Failed> {
    let target = Target::new(Some(PLATFORM))?;
    match part {
        Part::OtherLinux => other_linux::build(),
        Part::Crates => registries::crates(),
        Part::Python => registries::python(&target),
        Part::Npm => registries::npm_packages(&target),
        Part::C => compiled::c(&target),
        Part::Go => compiled::go(&target),
        Part::Java => registries::java(),
        Part::Command => compiled::command(&Target::new(Some(STATIC))?),
        Part::Sbom => Ok(sbom::build()?.into_iter().map(Artifact::reproducible).collect()),
        Part::Image => image(),
        Part::Guide => guide(),
    }
}

fn image() -> Result<Vec<Artifact>, Failed> {
    deploy::test_image()?;
    let chart = kubernetes::package(&empty_folder("chart")?)?;
    Ok(vec![Artifact::new(format!("{}/flakeid", deploy::CONTEXT)), Artifact::new(chart)])
}

fn guide() -> Result<Vec<Artifact>, Failed> {
    crate::docs::check(&[tutorials::Part::Book])?;
    let archive = format!("{WORK}/guide.tar.gz");
    Step::new("tar", &["-czf", &archive, "-C", "target/docs", "book"]).run()?;
    Ok(vec![Artifact::new(wasm::page::PAGE_FILE), Artifact::new(archive)])
}

/// Compares the hashes of the artifacts that must be the same in each build.
fn compare(artifacts: &[Artifact], sums: &str, other: &str) -> Outcome {
    let sum_in = |sums: &str, name: &str| {
        let line = sums.lines().find(|line| line.ends_with(&format!("  {name}")));
        line.and_then(|line| line.split_whitespace().next()).map(str::to_owned)
    };
    let reproducible = artifacts.iter().filter(|artifact| artifact.is_reproducible);
    let names: Vec<String> = reproducible.map(Artifact::name).collect();
    let differing: Vec<&str> = names
        .iter()
        .filter(|name| sum_in(sums, name) != sum_in(other, name))
        .map(String::as_str)
        .collect();
    if differing.is_empty() {
        println!("\n{} artifacts have the same bytes as in the other rehearsal", names.len());
        return Ok(());
    }
    Err(Failed(format!("differ from the other rehearsal: {}", differing.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_names_the_artifacts_that_differ() {
        let artifacts = [Artifact::reproducible("a/one"), Artifact::new("a/two")];
        let sums = "1  one\n2  two\n";
        assert!(compare(&artifacts, sums, "1  one\n3  two\n").is_ok());
        let differing = compare(&artifacts, sums, "3  one\n2  two\n");
        assert!(differing.is_err_and(|Failed(why)| why.ends_with(": one")));
        assert!(compare(&artifacts, sums, "").is_err());
    }
}
