//! Handing to the registries what `target/dist` holds, after a look at its version.

use clap::ValueEnum;
use flakeid_steps::{Failed, Outcome, Step, files, root};

use crate::jar;
use crate::node;
use crate::npm::npm;
use crate::platform::RELEASED;
use crate::wasm;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where `cargo xtask publish` publishes. Wheels are for the registry's own action, which signs
/// them.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Registry {
    /// The crates that are not marked `publish = false`, each after those that it needs.
    Crates,
    /// The packages of all platforms, then those that users name.
    Npm,
}

pub(crate) fn run(registry: Registry, dry_run: bool) -> Outcome {
    match registry {
        Registry::Crates => crates(dry_run),
        Registry::Npm => packages(dry_run),
    }
}

/// That a tag is of this version, and that the changelog says what is in it.
pub(crate) fn check_tag(tag: &str) -> Outcome {
    if tag.strip_prefix('v') != Some(VERSION) {
        return Err(Failed(format!("the tag is {tag}, but Cargo.toml says v{VERSION}")));
    }
    node::check_manifest()?;
    wasm::check_version()?;
    jar::check_version()?;
    // A module of Go in a folder is published without what lies outside of that folder.
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if files::text(licence)? != files::text(format!("go/{licence}"))? {
            return Err(Failed(format!("go/{licence} is not {licence}: copy it")));
        }
    }
    let heading = format!("## [{VERSION}]");
    if !files::text("CHANGELOG.md")?.lines().any(|line| line.starts_with(&heading)) {
        return Err(Failed(format!("CHANGELOG.md has no section {heading}")));
    }
    Ok(())
}

fn crates(dry_run: bool) -> Outcome {
    let step = Step::cargo(&["publish", "--workspace", "--locked"]);
    if dry_run { step.args(&["--dry-run"]).run() } else { step.run() }
}

/// A run that was broken off may be repeated: what is published already is left out.
fn packages(dry_run: bool) -> Outcome {
    let platforms = RELEASED.iter().map(node::platform_package).map(|name| (node::DIST, name));
    let named = [(node::DIST, "flakeid-core"), (wasm::DIST, "flakeid-wasm")];
    let named = named.map(|(folder, name)| (folder, name.to_owned()));
    let all: Vec<(String, String)> = platforms
        .chain(named)
        .map(|(folder, name)| {
            let tarball = files::shown(&root().join(format!("{folder}/{name}-{VERSION}.tgz")))?;
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
        // A name that the registry does not know yet is an error to npm.
        let known = npm(&["view", &published, "version"]).output();
        if known.is_ok_and(|version| version.trim() == VERSION) {
            println!("{published} is published already");
            continue;
        }
        // What users get who name no version is never one that is on trial.
        let tag = if VERSION.contains('-') { "next" } else { "latest" };
        let step = npm(&["publish", "--access", "public", "--tag", tag, tarball]);
        if dry_run { step.args(&["--dry-run"]).run()? } else { step.run()? }
    }
    Ok(())
}
