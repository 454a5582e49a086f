//! A lint against retired names, which were replaced because they were metaphors or had two
//! meanings.

use std::path::{Path, PathBuf};

use crate::tokens::{Language, tokens};
use flakeid_steps::files;
use flakeid_steps::{Failed, Outcome};

/// Names that are not allowed for identifiers and files, each with its replacement.
const NAMES: [(&str, &str); 43] = [
    ("Acts", "Keeper"),
    ("Blow", "ProcessFault"),
    ("Board", "SharedMemory"),
    ("Care", "RetryHints"),
    ("Crew", "Workers"),
    ("crew", "workers"),
    ("deserters", "crashed"),
    ("Desk", "Generators"),
    ("desk", "dispatch"),
    ("Dice", "Backoff"),
    ("dice", "backoff"),
    ("Draft", "WriteSet"),
    ("Ending", "PendingClose"),
    ("Holding", "PastHolder"),
    ("hostility", "tampering"),
    ("Life", "LeaseSession"),
    ("Lives", "Sessions"),
    ("Maker", "Generator"),
    ("maker", "generator"),
    ("Makers", "Generators"),
    ("makers", "generators"),
    ("Notebook", "IdLog"),
    ("notebook", "id_log"),
    ("notebooks", "id_logs"),
    ("Pace", "RenewalSchedule"),
    ("rerun", "retry_conflicts"),
    ("Scene", "Fixture"),
    ("scene", "fixture"),
    ("Seat", "Slot"),
    ("seat", "register"),
    ("Seated", "Slot"),
    ("Seen", "ReadRow"),
    ("Shelf", "VersionedStore"),
    ("shelf", "VersionedStore"),
    ("Stage", "Phase"),
    ("tame", "sanitize"),
    ("Tenant", "LeaseUse"),
    ("Terrain", "FaultRange"),
    ("terrain", "FaultRange"),
    ("Trouble", "StoreFault"),
    ("trouble", "fault"),
    ("troubles", "faults"),
    ("Written", "NewRow"),
];

/// Names that are not allowed for files, each with its replacement. In code these names are plain
/// English words.
const FILES: [(&str, &str); 4] = [
    ("board", "shared_memory"),
    ("opening", "lease_tasks"),
    ("place", "files"),
    ("volume", "filesystem"),
];

/// Checks that no identifier and no file has a retired name.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let mut found = Vec::new();
    for path in sources {
        let Some(language) = path.extension().and_then(|e| Language::of_extension(e.to_str()?))
        else {
            continue;
        };
        // This file contains the list of retired names.
        if path.ends_with(file!()) {
            continue;
        }
        found.extend(in_name(path));
        found.extend(in_text(path, &files::text(path)?, language));
    }
    if found.is_empty() { Ok(()) } else { Err(Failed(found.join("\n"))) }
}

fn in_name(path: &Path) -> Option<String> {
    let known = NAMES.iter().chain(&FILES);
    let stem = path.file_stem()?.to_str()?;
    let (word, instead) = known.copied().find(|(word, _)| *word == stem)?;
    Some(format!("{}: the name {word} is retired; call the file {instead}", path.display()))
}

fn in_text(path: &Path, text: &str, language: Language) -> Vec<String> {
    let tokens = tokens(text, language);
    let found = tokens.iter().filter_map(|token| {
        let (word, instead) = NAMES.iter().find(|(word, _)| *word == token.text)?;
        Some(format!(
            "{}:{}: the name {word} is retired; use {instead}",
            path.display(),
            token.line
        ))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retired_name_is_reported_with_its_line_and_its_replacement() {
        let text = "// Blow\nstruct Blow;\nlet blow = Blows;\n";
        let found = in_text(Path::new("a.rs"), text, Language::Rust);
        assert_eq!(found, ["a.rs:2: the name Blow is retired; use ProcessFault"]);
    }

    #[test]
    fn file_whose_stem_is_a_retired_name_is_reported() {
        assert!(in_name(Path::new("src/notebook.py")).is_some());
        assert!(in_name(Path::new("board.rs")).is_some());
        assert!(in_name(Path::new("notebooks/log.rs")).is_none());
        assert!(in_text(Path::new("a.py"), "board = 1  # notebook", Language::Python).is_empty());
    }
}
