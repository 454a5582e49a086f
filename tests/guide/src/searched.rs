//! The search in the built guide: readers who search for an error code or a typical message find it.

use std::path::Path;

use flakeid_steps::{Failed, Outcome, files};
use serde::Deserialize;
use serde_json::Value;

/// The folder of the built guide.
const BOOK: &str = "target/docs/book";

/// The table of codes and typical messages.
const TABLE: &str = "errors.toml";

/// The part of [`TABLE`] that readers search for.
#[derive(Deserialize)]
struct Table {
    code: Vec<Code>,
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Group {
    messages: Vec<String>,
}

/// Checks that the index of the search contains every code and message of the table.
pub(crate) fn check() -> Outcome {
    let table: Table = toml::from_str(&files::text(TABLE)?)
        .map_err(|error| Failed(format!("{TABLE}: {error}")))?;
    let messages = table.group.iter().flat_map(|group| &group.messages);
    let wanted: Vec<&str> =
        table.code.iter().map(|code| &code.code).chain(messages).map(String::as_str).collect();
    let sections = sections()?;
    let missing: Vec<&str> = wanted
        .iter()
        .filter(|text| {
            let text = words(text);
            !sections.iter().any(|section| section.contains(&text))
        })
        .copied()
        .collect();
    if !missing.is_empty() {
        let list = missing.join("\n");
        return Err(Failed(format!("search in the built guide does not find:\n{list}")));
    }
    println!("{BOOK}: search finds {} codes and messages", wanted.len());
    Ok(())
}

/// Returns the title and the text of each section in the index of the search.
fn sections() -> Result<Vec<String>, Failed> {
    let scripts = files::below(Path::new(BOOK), "js")?;
    let script = scripts
        .iter()
        .find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("searchindex"))
        })
        .ok_or_else(|| Failed(format!("{BOOK} has no searchindex*.js")))?;
    let text = files::text(script)?;
    let unknown = || Failed(format!("{}: unknown format", script.display()));
    let index = index(&text).ok_or_else(unknown)?;
    let documents = index["index"]["documentStore"]["docs"].as_object().ok_or_else(unknown)?;
    let section = |document: &Value| {
        let field = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
        words(&(field("title") + " " + &field("body")))
    };
    Ok(documents.values().map(section).collect())
}

/// Returns the index in mdBook's script, which contains JSON in a JavaScript string.
fn index(script: &str) -> Option<Value> {
    let (_, rest) = script.split_once("JSON.parse('")?;
    let (string, _) = rest.rsplit_once("')")?;
    let json = string.replace("\\'", "'").replace("\\\\", "\\");
    serde_json::from_str(&json).ok()
}

/// Returns the words without the marks of code, which the index omits, with one space between them.
fn words(text: &str) -> String {
    text.replace('`', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::index;

    #[test]
    fn the_script_contains_json_in_a_string() {
        let script = r#"x = Object.assign(x, JSON.parse('{"a":"it\'s \\"quoted\\""}'));"#;
        assert_eq!(index(script), Some(serde_json::json!({ "a": "it's \"quoted\"" })));
    }
}
