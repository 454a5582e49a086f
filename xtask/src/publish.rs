//! Publishes `target/dist` to the registries, after a check of the version.

use clap::ValueEnum;
use flakeid_steps::{Failed, Outcome, Step, files, root};

use crate::go;
use crate::jar;
use crate::kubernetes;
use crate::node;
use crate::npm::npm;
use crate::platform::RELEASED;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A registry for `cargo xtask publish`. `PyPI` is missing, because its own action uploads and
/// signs the wheels.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Registry {
    /// The crates without `publish = false`, each after its dependencies.
    Crates,
    /// The packages of all platforms, then the packages that users install by name.
    Npm,
    /// The tag from which the `go` command downloads the Go module.
    Go,
}

pub(crate) fn run(registry: Registry, dry_run: bool) -> Outcome {
    match registry {
        Registry::Crates => crates(dry_run),
        Registry::Npm => packages(dry_run),
        Registry::Go => go::tag(dry_run),
    }
}

/// Checks that a tag has the workspace's version, and that the changelog has a section for it.
pub(crate) fn check_tag(tag: &str) -> Outcome {
    if tag.strip_prefix('v') != Some(VERSION) {
        return Err(Failed(format!("the tag is {tag}, but Cargo.toml says v{VERSION}")));
    }
    check_versions()?;
    let heading = format!("## [{VERSION}]");
    if !files::text("CHANGELOG.md")?.lines().any(|line| line.starts_with(&heading)) {
        return Err(Failed(format!("CHANGELOG.md has no section {heading}")));
    }
    Ok(())
}

/// Checks the versions and the licences that several packages repeat.
pub(crate) fn check_versions() -> Outcome {
    node::check_manifest()?;
    jar::check_version()?;
    kubernetes::check_version()?;
    // A Go module in a subfolder is published without the files outside that folder.
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if files::text(licence)? != files::text(format!("go/{licence}"))? {
            return Err(Failed(format!("go/{licence} differs from {licence}: copy the file")));
        }
    }
    Ok(())
}

fn crates(dry_run: bool) -> Outcome {
    let step = Step::cargo(&["publish", "--workspace", "--locked"]);
    if dry_run { step.args(&["--dry-run"]).run() } else { step.run() }
}

/// Publishes the npm packages. An interrupted run can be repeated, because published packages are
/// skipped.
fn packages(dry_run: bool) -> Outcome {
    let platforms = RELEASED.iter().map(node::platform_package);
    let all: Vec<(String, String)> = platforms
        .chain(["flakeid-core".to_owned()])
        .map(|name| {
            let path = format!("{}/{name}-{VERSION}.tgz", node::DIST);
            let tarball = files::shown(&root().join(path))?;
            Ok((name, tarball))
        })
        .collect::<Result<_, Failed>>()?;
    let missing: Vec<&str> = all
        .iter()
        .filter(|(_, tarball)| !root().join(tarball).is_file())
        .map(|(_, tarball)| tarball.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(Failed(format!("not built: {}", missing.join(", "))));
    }
    for (name, tarball) in &all {
        let published = format!("{name}@{VERSION}");
        // npm fails if the registry does not contain the name yet.
        let known = npm(&["view", &published, "version"]).output();
        if known.is_ok_and(|version| version.trim() == VERSION) {
            println!("{published} is published already");
            continue;
        }
        // Users who do not specify a version must never get a pre-release.
        let tag = if VERSION.contains('-') { "next" } else { "latest" };
        let step = npm(&["publish", "--access", "public", "--tag", tag, tarball]);
        if dry_run { step.args(&["--dry-run"]).run()? } else { step.run()? }
    }
    Ok(())
}
