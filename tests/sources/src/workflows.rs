//! A lint of `.github/workflows` for rules that actionlint and zizmor lack: each action has its
//! version in a comment, and releases cover all platforms.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, files};

const FOLDER: &str = ".github/workflows";

/// Checks the workflows. `platforms` are the Rust target triples of a release.
pub(crate) fn check(platforms: &[String]) -> Outcome {
    for name in files::names(FOLDER)? {
        let text = files::text(Path::new(FOLDER).join(&name))?;
        for (line, number) in text.lines().zip(1..) {
            if !names_version(line) {
                return Err(Failed(format!(
                    "{FOLDER}/{name}, line {number}: an action must have its version in a comment, such as \
                     in # v1.2.3: {}",
                    line.trim()
                )));
            }
        }
    }
    let release = files::text(Path::new(FOLDER).join("release.yml"))?;
    for triple in platforms {
        // The whole line has to match, because a triple can be a part of another triple.
        if !release.lines().any(|line| line.trim() == format!("- target: {triple}")) {
            return Err(Failed(format!("{FOLDER}/release.yml has no line - target: {triple}")));
        }
    }
    Ok(())
}

/// Whether a line pins no action, or states the action's version in a comment. zizmor requires a
/// hash, from which readers cannot see the version. Workflows of this repository need neither a
/// hash nor a version.
fn names_version(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let Some(action) = line.strip_prefix("uses:") else {
        return true;
    };
    let version = action.split_once(" # v").map_or("", |(_, version)| version);
    action.trim_start().starts_with("./")
        || version.starts_with(|digit: char| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::names_version;

    #[test]
    fn workflow_action_requires_its_version_in_a_comment() {
        assert!(names_version("      - uses: some/action@0123abcd # v1.2.3"));
        assert!(names_version("        uses: some/action@0123abcd # v4"));
        assert!(names_version("    uses: ./.github/workflows/ci.yml"));
        assert!(names_version("      - run: cargo test"));
        for line in ["- uses: some/action@0123abcd", "uses: some/action@0123abcd # vx"] {
            assert!(!names_version(line), "{line}");
        }
    }
}
