//! The error codes and messages in `errors.toml`: the table contains every code and every message of the sources, and
//! the pages of the guide are generated from the table.

mod extraction;
mod pages;

use std::collections::BTreeSet;
use std::path::PathBuf;

use flakeid_steps::{Failed, Outcome, files};
use serde::Deserialize;

/// The table of codes and messages.
const TABLE: &str = "errors.toml";

/// The codes with their properties, which the tests of every language compare with the language's own codes.
const CODES: &str = "tests/vectors/errors.json";

/// The contents of [`TABLE`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    code: Vec<Explanation>,
    group: Vec<Group>,
    /// The strings in the sources that look like messages, but do not belong to an error.
    other_strings: Vec<String>,
}

/// A code, with its meaning and the next step of the reader.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explanation {
    code: String,
    meaning: String,
    next: String,
}

/// Messages that require the same next step.
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
}

/// The properties of a code.
#[derive(Deserialize)]
struct Properties {
    code: String,
    c: u32,
    retry: Option<bool>,
    python: Option<String>,
}

impl Codes {
    fn all(&self) -> impl Iterator<Item = &Properties> {
        self.errors.iter().chain(&self.c_only)
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

/// Checks that the table lists exactly the codes and the messages, and that the pages are up to date.
pub(crate) fn check(sources: &[PathBuf]) -> Outcome {
    let (table, codes) = read()?;
    let mut found = extraction::messages(sources)?;
    let mut wrong = Vec::new();
    let known: BTreeSet<&str> = codes.all().map(|code| code.code.as_str()).collect();
    let listed: BTreeSet<&str> = table.code.iter().map(|code| code.code.as_str()).collect();
    for code in known.symmetric_difference(&listed) {
        wrong.push(format!("{TABLE} and {CODES} differ in the code {code}"));
    }
    let mut seen = BTreeSet::new();
    for group in &table.group {
        for code in group.codes.iter().filter(|code| !known.contains(code.as_str())) {
            wrong.push(format!("{TABLE}: {:?} has the unknown code {code}", group.title));
        }
        if group.next.is_empty() {
            wrong.push(format!("{TABLE}: {:?} lacks the next step", group.title));
        }
        seen.extend(&group.messages);
    }
    seen.extend(&table.other_strings);
    for text in seen {
        if found.remove(text).is_none() {
            wrong.push(format!("{TABLE}: no source contains {text:?}; delete the entry"));
        }
    }
    for (text, place) in &found {
        wrong.push(format!("{place}: {TABLE} lacks the message {text:?}"));
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

/// Prints all messages of the sources with their places.
pub(crate) fn list(sources: &[PathBuf]) -> Outcome {
    for (text, place) in extraction::messages(sources)? {
        println!("{place}\t{text}");
    }
    Ok(())
}
