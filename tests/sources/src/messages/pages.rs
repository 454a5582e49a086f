//! The pages of the guide that list error codes and messages.

use std::fmt::Write;

use flakeid_steps::{Failed, files};

use super::{Codes, Table};

/// The page with the codes.
const CODES_PAGE: &str = "docs/src/reference/errors.md";

/// The page with the messages.
const MESSAGES_PAGE: &str = "docs/src/operations/troubleshooting.md";

/// The line after which a page is generated.
const BEGIN: &str = "<!-- generated from errors.toml: cargo xtask errors -->\n";

/// Returns the pages with their new contents. The beginning of each page is written by hand.
pub(super) fn all(table: &Table, codes: &Codes) -> Result<[(&'static str, String); 2], Failed> {
    Ok([
        (CODES_PAGE, with_part(CODES_PAGE, &codes_part(table, codes))?),
        (MESSAGES_PAGE, with_part(MESSAGES_PAGE, &messages_part(table))?),
    ])
}

fn with_part(path: &str, part: &str) -> Result<String, Failed> {
    let page = files::text(path)?;
    let (before, _) =
        page.split_once(BEGIN).ok_or_else(|| Failed(format!("{path} lacks the line {BEGIN}")))?;
    Ok(format!("{before}{BEGIN}{part}"))
}

fn codes_part(table: &Table, codes: &Codes) -> String {
    let mut part = String::new();
    for code in &table.code {
        let Some(known) = codes.all().find(|known| known.code == code.code) else { continue };
        let status = known.c.map_or_else(
            || "Only in JavaScript".to_owned(),
            |number| format!("Status {number} in C"),
        );
        let retry = match known.retry {
            Some(true) => "; the same call may succeed later",
            Some(false) => "; a repeated call fails again",
            None if known.c.is_some() => "; only in C",
            None => "",
        };
        let python = known.python.as_ref().map(|name| format!(", `{name}` in Python"));
        _ = write!(
            part,
            "\n## `{}`\n\n{status}{}{retry}.\n\n{}\n\n{}\n",
            code.code,
            python.unwrap_or_default(),
            filled(&code.meaning),
            filled(&format!("**Next step:** {}", code.next))
        );
        let groups: Vec<String> = table
            .group
            .iter()
            .filter(|group| group.codes.contains(&code.code))
            .map(|group| {
                format!(
                    "[{}](../operations/troubleshooting.md#{})",
                    group.title,
                    anchor(&group.title)
                )
            })
            .collect();
        if !groups.is_empty() {
            part = part + "\nMessages:\n\n- " + &groups.join("\n- ") + "\n";
        }
    }
    part
}

fn messages_part(table: &Table) -> String {
    let mut part = String::new();
    for group in &table.group {
        let codes: Vec<String> = group
            .codes
            .iter()
            .map(|code| format!("[`{code}`](../reference/errors.md#{})", code.to_lowercase()))
            .collect();
        let codes = match codes.len() {
            0 => String::new(),
            1 => format!("Code: {}. ", codes.concat()),
            _ => format!("Codes: {}. ", codes.join(", ")),
        };
        let line = codes + &group.next;
        _ = write!(part, "\n## {}\n\n{}\n\n", group.title, filled(&line));
        for message in &group.messages {
            _ = writeln!(part, "- {}", quoted(message));
        }
    }
    part
}

/// Returns a message as code, which may contain backticks.
fn quoted(message: &str) -> String {
    if !message.contains('`') {
        return format!("`{message}`");
    }
    let gap = |is_needed| if is_needed { " " } else { "" };
    let (first, last) = (gap(message.starts_with('`')), gap(message.ends_with('`')));
    format!("``{first}{message}{last}``")
}

/// Returns the anchor that mdBook gives to a heading.
fn anchor(title: &str) -> String {
    let letters =
        title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    letters.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Breaks a paragraph into lines of at most 120 letters.
fn filled(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let room = 120_usize.saturating_sub(lines.last().map_or(0, |line| line.chars().count()));
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if word.chars().count() < room => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{anchor, filled, quoted};

    #[test]
    fn quoted_message_keeps_its_backticks() {
        assert_eq!(quoted("run flakeid"), "`run flakeid`");
        assert_eq!(quoted("run `flakeid`"), "``run `flakeid` ``");
    }

    #[test]
    fn anchor_has_no_punctuation() {
        assert_eq!(anchor("Rings, windows of C's"), "rings-windows-of-cs");
    }

    #[test]
    fn paragraph_is_broken_between_words() {
        let text = "word ".repeat(30);
        let lines: Vec<usize> = filled(&text).lines().map(str::len).collect();
        assert_eq!(lines, [119, 29]);
    }
}
