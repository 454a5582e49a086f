//! The lists of public items, `api.txt` of each crate for users, so that the diff of a change shows its effect on users.

use std::collections::BTreeSet;

use flakeid_steps::{Failed, Outcome, Step, files, root, target_folder};
use public_api::Builder;

const CRATES: [&str; 7] = [
    "flakeid",
    "flakeid-conformance",
    "flakeid-core",
    "flakeid-json",
    "flakeid-protocol",
    "flakeid-server",
    "flakeid-stores",
];

/// Writes the lists.
pub(crate) fn write() -> Outcome {
    document()?;
    CRATES.iter().try_for_each(|name| files::write(place(name), items(name)?))
}

/// Checks that the lists match the crates.
pub(crate) fn check() -> Outcome {
    document()?;
    let mut changes = String::new();
    for name in CRATES {
        let (old, new) = (files::text(place(name)).unwrap_or_default(), items(name)?);
        let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old.lines().collect(), new.lines().collect());
        changes.extend(old.difference(&new).map(|item| format!("- {item}\n")));
        changes.extend(new.difference(&old).map(|item| format!("+ {item}\n")));
    }
    if changes.is_empty() {
        return Ok(());
    }
    Err(Failed(format!("{changes}the public items changed; update their lists: cargo xtask api")))
}

fn place(name: &str) -> String {
    format!("crates/{name}/api.txt")
}

/// Lets rustdoc write the crates as JSON, with the features and dependencies that lint compiles.
fn document() -> Outcome {
    Step::cargo(&[
        "doc",
        "--locked",
        "--no-deps",
        "--lib",
        "--all-features",
        "-p",
        "workspace-hack",
    ])
    .args(&CRATES.map(|name| ["-p", name]).concat())
    .env("RUSTDOC", root().join("xtask/unstable-rustdoc.sh"))
    .env("RUSTDOCFLAGS", "-Zunstable-options --output-format json")
    .run()
}

/// Returns the public items of a crate, one on each line, without those that every type has.
fn items(name: &str) -> Result<String, Failed> {
    let json = target_folder().join("doc").join(name.replace('-', "_")).with_extension("json");
    let items = Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .map_err(|error| Failed(format!("the public items of {name}: {error}")))?;
    let lines: Vec<String> = items.items().map(ToString::to_string).collect();
    Ok(lines.join("\n") + "\n")
}
