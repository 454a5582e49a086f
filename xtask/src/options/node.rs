//! JavaScript: the types of `node` and of its package for WebAssembly, and the spelling of both.

use flakeid_steps::Failed;

use super::part::{Lines, Part};
use super::spelling::{self, Language};
use super::table::{Handle, Kind, Opt, Table};
use super::text::{Style, sentences, wrapped};

/// Generates the parts of a binding in Rust.
pub(super) fn binding(table: &Table, part: &Part<'_>) -> Lines {
    match part.name {
        "spelling" => Ok(spelling::constant(table, Language::Node, "SPELLING")),
        _ => Err(part.unknown()),
    }
}

/// Generates the parts of the types.
pub(super) fn types(table: &Table, part: &Part<'_>) -> Lines {
    if part.name != "fields" {
        return Err(part.unknown());
    }
    let style = Style::of(table, Language::Node);
    let mut lines = Vec::new();
    for option in part.options(table)? {
        lines.extend(comment(&documentation(&style, option)?));
        lines.push(format!("{}?: {} | undefined;", Language::Node.spelled(option), kind(option)));
    }
    Ok(lines)
}

fn documentation(style: &Style<'_>, option: Opt<'_>) -> Result<String, Failed> {
    let text = sentences(&style.doc(option)?, style.more(option)?.as_deref());
    Ok(match style.default(option)? {
        Some(default) => format!("{text} Default: {default}."),
        None => text,
    })
}

/// Returns a comment, on one line if it fits.
fn comment(text: &str) -> Vec<String> {
    let line = format!("/** {text} */");
    if line.chars().count() <= 98 {
        return vec![line];
    }
    let mut lines = vec!["/**".to_owned()];
    lines.extend(wrapped(" * ", " * ", text, 98));
    lines.push(" */".to_owned());
    lines
}

fn kind(option: Opt<'_>) -> String {
    let number = "number | bigint";
    match option.kind() {
        Kind::Number | Kind::Duration => number.to_owned(),
        Kind::Numbers => format!("readonly ({number})[]"),
        Kind::Range if option.name() == "window" => {
            format!("{{ start: {number}; fence: {number} }}")
        }
        Kind::Range => format!("readonly [from: {number}, to: {number}]"),
        Kind::Text => "string".to_owned(),
        Kind::Flag => "boolean".to_owned(),
        Kind::Choice => {
            let values = option.values().iter().map(|value| format!("'{value}'"));
            values.collect::<Vec<_>>().join(" | ")
        }
        Kind::Layout => "LayoutInput".to_owned(),
        Kind::Instant => "Instant".to_owned(),
        Kind::Clock if option.handle == Handle::Generator => {
            "ClockChoices[keyof ClockChoices]".to_owned()
        }
        Kind::Clock => "ClockName".to_owned(),
        Kind::Function if option.handle == Handle::Ring => {
            "((error: FlakeIdError) => void)".to_owned()
        }
        Kind::Function => "((event: LeaseEvent) => void)".to_owned(),
    }
}
