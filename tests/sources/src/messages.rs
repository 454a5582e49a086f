//! The error codes in `errors.toml`: the table contains every code with its next step, and the pages of the guide are
//! generated from the table.

mod pages;

use std::collections::BTreeSet;
use std::path::PathBuf;

use flakeid_steps::{Failed, Outcome, files};
use serde::Deserialize;

/// The table of codes, and of groups of messages.
const TABLE: &str = "errors.toml";

/// The codes with their properties, which the tests of every language compare with the language's own codes.
const CODES: &str = "tests/vectors/errors.json";

/// The folders whose sources contain messages.
const FOLDERS: [&str; 6] = ["crates", "bindings", "node", "python", "java", "go"];

/// The extensions of these sources.
const LANGUAGES: [&str; 6] = ["rs", "js", "py", "java", "go", "sql"];

/// The contents of [`TABLE`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    code: Vec<Explanation>,
    group: Vec<Group>,
}

/// A code, with its meaning and the next step of the reader.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explanation {
    code: String,
    meaning: String,
    next: String,
}

/// Messages that require the same next step, of which the table quotes typical ones.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    title: String,
    codes: Vec<String>,
    next: String,
    messages: Vec<String>,
}

/// The contents of [`CODES`].
#[derive(Deserialize)]
struct Codes {
    errors: Vec<Properties>,
    c_only: Vec<Properties>,
    javascript_only: Vec<Properties>,
}

/// The properties of a code.
#[derive(Deserialize)]
struct Properties {
    code: String,
    c: Option<u32>,
    retry: Option<bool>,
    python: Option<String>,
}

impl Codes {
    fn all(&self) -> impl Iterator<Item = &Properties> {
        self.errors.iter().chain(&self.c_only).chain(&self.javascript_only)
    }
}

fn read() -> Result<(Table, Codes), Failed> {
    let table = toml::from_str(&files::text(TABLE)?);
    let codes = serde_json::from_str(&files::text(CODES)?);
    Ok((
        table.map_err(|error| Failed(format!("{TABLE}: {error}")))?,
        codes.map_err(|error| Failed(format!("{CODES}: {error}")))?,
    ))
}

/// Checks that the table lists exactly the codes, that every next step is given, that the sources contain the quoted
/// messages, and that the pages are up to date.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let (table, codes) = read()?;
    let mut wrong = Vec::new();
    let known: BTreeSet<&str> = codes.all().map(|code| code.code.as_str()).collect();
    let listed: BTreeSet<&str> = table.code.iter().map(|code| code.code.as_str()).collect();
    for code in known.symmetric_difference(&listed) {
        wrong.push(format!("{TABLE} and {CODES} differ in the code {code}"));
    }
    for code in &table.code {
        if code.meaning.is_empty() || code.next.is_empty() {
            wrong.push(format!("{TABLE}: {} lacks the meaning or the next step", code.code));
        }
    }
    let contents = contents(sources)?;
    for group in &table.group {
        for code in group.codes.iter().filter(|code| !known.contains(code.as_str())) {
            wrong.push(format!("{TABLE}: {:?} has the unknown code {code}", group.title));
        }
        if group.next.is_empty() {
            wrong.push(format!("{TABLE}: {:?} lacks the next step", group.title));
        }
        for message in group.messages.iter().filter(|message| !is_in(&contents, message)) {
            wrong.push(format!("{TABLE}: no source contains the message {message:?}"));
        }
    }
    for (path, page) in pages::all(&table, &codes)? {
        if files::text(path)? != page {
            wrong.push(format!("{path} differs from {TABLE}; generate it: cargo xtask errors"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failed(wrong.join("\n"))) }
}

/// Writes the pages.
pub(crate) fn write() -> Outcome {
    let (table, codes) = read()?;
    for (path, page) in pages::all(&table, &codes)? {
        files::write(path, &page)?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Returns the sources that contain messages as one string.
fn contents(sources: &[PathBuf]) -> Result<String, Failed> {
    let mut contents = String::new();
    let is_source = |path: &&PathBuf| {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        LANGUAGES.contains(&extension.as_ref())
            && FOLDERS.iter().any(|folder| path.starts_with(folder))
    };
    for path in sources.iter().filter(is_source) {
        contents.push_str(&joined(&files::text(path)?));
    }
    Ok(contents)
}

/// Joins the lines of string literals, which end with a backslash in Rust.
fn joined(source: &str) -> String {
    source.split("\\\n").map(str::trim_start).collect()
}

/// Whether the sources contain the parts of a message between its values.
fn is_in(contents: &str, message: &str) -> bool {
    message.split('…').all(|part| contents.contains(part))
}

#[cfg(test)]
mod tests {
    use super::{is_in, joined};

    #[test]
    fn quoted_message_is_found_across_lines_and_values() {
        let source = joined("    format!(\n        \"node {node} is \\\n         held by {}\")");
        assert!(is_in(&source, "node … is held by …"));
        assert!(!is_in(&source, "node … is free"));
    }
}
