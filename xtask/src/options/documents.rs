//! Tables of options in the documents.

use super::part::{Lines, Part};
use super::spelling::Language;
use super::table::Table;
use super::text::{Style, within};

/// Generates the tables of Python.
pub(super) fn of_python(table: &Table, part: &Part<'_>) -> Lines {
    rows(table, part, Language::Python)
}

/// Generates the tables of JavaScript.
pub(super) fn of_node(table: &Table, part: &Part<'_>) -> Lines {
    rows(table, part, Language::Node)
}

fn rows(table: &Table, part: &Part<'_>, language: Language) -> Lines {
    if part.name != "table" {
        return Err(part.unknown());
    }
    let style = Style::of_markdown(table, language);
    let mut lines = vec!["| option | meaning | default |".to_owned(), "|---|---|---|".to_owned()];
    for option in part.options(table)? {
        let values = option.values().iter().map(|value| format!("`{}`", quoted(language, value)));
        let values: Vec<String> = values.collect();
        let values =
            if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
        let more = style.more(option)?.map_or_else(String::new, |more| format!(". {more}"));
        let default = style.default(option)?.map_or_else(String::new, |text| format!(" {text}"));
        lines.push(format!(
            "| `{}` | {}{values}{} |{default} |",
            language.spelled(option),
            within(&style.doc(option)?),
            more.trim_end_matches('.'),
        ));
    }
    Ok(lines)
}

fn quoted(language: Language, value: &str) -> String {
    if language == Language::Python { format!("\"{value}\"") } else { value.to_owned() }
}
