//! The list of environment variables in the guide contains every variable that the sources read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flakeid_steps::{Failed, Outcome, files};

const PAGE: &str = "docs/src/reference/environment.md";

/// The folders of the crates whose programs read variables.
const SOURCES: [&str; 3] =
    ["crates/flakeid/src", "crates/flakeid-cli/src", "crates/flakeid-server/src"];

/// The list of error codes, which also begin with `FLAKEID_`.
const CODES: &str = "tests/vectors/errors.json";

/// Checks that the guide lists exactly the variables in the sources whose names begin with `FLAKEID_`.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let codes = files::text(CODES)?;
    let mut read = BTreeSet::new();
    for path in sources.iter().filter(|path| is_read(path)) {
        let text = files::text(path)?;
        let names = text.split('"').filter(|name| is_variable(name)).map(str::to_owned);
        read.extend(names.filter(|name| !codes.contains(&format!("\"{name}\""))));
    }
    let listed = listed(&files::text(PAGE)?);
    if read == listed {
        return Ok(());
    }
    let shown = |names: &BTreeSet<String>, others| {
        names.difference(others).cloned().collect::<Vec<_>>().join(", ")
    };
    Err(Failed(format!(
        "{PAGE}: the page lacks [{}], and the sources lack [{}]",
        shown(&read, &listed),
        shown(&listed, &read)
    )))
}

fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
        && SOURCES.iter().any(|folder| path.starts_with(folder))
}

fn is_variable(name: &str) -> bool {
    let rest = name.strip_prefix("FLAKEID_").unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Returns the variables in the first column of the tables of the page.
fn listed(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.filter_map(|row| row.split('|').next());
    let names = cells.flat_map(|cell| cell.split(['`', ',', ' ']));
    names.filter(|name| is_variable(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_variable, listed};

    #[test]
    fn variables_are_read_from_the_first_column() {
        let page =
            "`FLAKEID_X` is text\n| `FLAKEID_A`, `FLAKEID_B` | as `FLAKEID_C` |\n| `HOME` | |\n";
        assert_eq!(Vec::from_iter(listed(page)), ["FLAKEID_A", "FLAKEID_B"]);
    }

    #[test]
    fn only_whole_names_are_variables() {
        assert!(is_variable("FLAKEID_KEY_FILE"));
        for name in ["FLAKEID_", "FLAKEID_STORE contains", "flakeid_next"] {
            assert!(!is_variable(name), "{name}");
        }
    }
}
