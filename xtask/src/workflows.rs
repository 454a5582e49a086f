//! The files in `.github/workflows`: every action is pinned, and releases are for all platforms.

use std::path::Path;

use crate::command::{Failed, Outcome};
use crate::files;
use crate::platform::RELEASED;

const FOLDER: &str = ".github/workflows";

pub(crate) fn check() -> Outcome {
    for name in files::names(FOLDER)? {
        let text = files::text(Path::new(FOLDER).join(&name))?;
        for (line, number) in text.lines().zip(1..) {
            if !is_pinned(line) {
                return Err(Failed(format!(
                    "{FOLDER}/{name}, line {number}: an action has to be pinned by the hash of its \
                     commit, with the version in a comment: {}",
                    line.trim()
                )));
            }
        }
    }
    let release = files::text(Path::new(FOLDER).join("release.yml"))?;
    for platform in RELEASED {
        // A line of its own, so that no name passes for a part of another.
        if !release.lines().any(|line| line.trim() == format!("- target: {}", platform.triple)) {
            let triple = platform.triple;
            return Err(Failed(format!("{FOLDER}/release.yml has no line - target: {triple}")));
        }
    }
    Ok(())
}

/// A tag can be moved to other code, a hash cannot. What is in this repository needs neither.
fn is_pinned(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let Some(action) = line.strip_prefix("uses:") else {
        return true;
    };
    let action = action.trim();
    if action.starts_with("./") {
        return true;
    }
    let Some((action, version)) = action.split_once(" # v") else {
        return false;
    };
    let hash = action.split_once('@').map_or("", |(_, hash)| hash);
    hash.len() == 40
        && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && version.starts_with(|digit: char| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_pinned;

    #[test]
    fn only_a_whole_hash_with_a_version_pins() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert!(is_pinned(&format!("      - uses: some/action@{hash} # v1.2.3")));
        assert!(is_pinned(&format!("        uses: some/action@{hash} # v1.2.3")));
        assert!(is_pinned("    uses: ./.github/workflows/ci.yml"));
        assert!(is_pinned("      - run: cargo test"));
        for line in [
            "- uses: some/action@v4".to_owned(),
            "- uses: some/action@main # v4".to_owned(),
            format!("- uses: some/action@{hash}"),
            format!("- uses: some/action@{hash} # vx"),
            format!("- uses: some/action@{} # v4", &hash[1..]),
            format!("- uses: some/action@{} # v4", hash.to_uppercase()),
            "- uses: docker://some/image:latest".to_owned(),
            format!("uses: {hash} # v4"),
        ] {
            assert!(!is_pinned(&line), "{line}");
        }
    }
}
