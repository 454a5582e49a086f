//! The passages of a Markdown document: its paragraphs, list items, headings and table cells.

use super::passages::{Kind, Passage};

/// Returns the passages of a document.
pub(crate) fn passages(document: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut current: Option<Passage> = None;
    let mut fence: Option<&str> = None;
    for (line, number) in document.lines().zip(1..) {
        let trimmed = line.trim_start_matches('>').trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        if let Some(mark) = mark.filter(|mark| fence.is_none_or(|open| open == *mark)) {
            fence = if fence.is_some() { None } else { Some(mark) };
            passages.extend(current.take());
            continue;
        }
        if fence.is_some() {
            continue;
        }
        let item = item(trimmed);
        let begins =
            trimmed.is_empty() || item.is_some() || trimmed.starts_with(['#', '|', '<', '!']);
        if begins {
            passages.extend(current.take());
        }
        let fragment = |content: &str| Passage {
            kind: Kind::Fragment,
            line: number,
            content: content.to_owned(),
        };
        if trimmed.starts_with('|') {
            passages.extend(
                trimmed.split('|').map(str::trim).filter(|cell| !cell.is_empty()).map(fragment),
            );
        } else if trimmed.starts_with('#') {
            passages.push(fragment(trimmed.trim_start_matches('#').trim()));
        } else if trimmed.is_empty()
            || trimmed.starts_with(['<', '!'])
            || trimmed.starts_with("{{#")
        {
            // Markup and included files contain no text of this document.
        } else if let Some(text) = &mut current {
            text.content.push(' ');
            text.content.push_str(trimmed);
        } else {
            let content = item.unwrap_or(trimmed).to_owned();
            current = Some(Passage { kind: Kind::Paragraph, line: number, content });
        }
    }
    passages.extend(current);
    passages
}

/// Returns the text of a list item without its marker.
fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    bullet.or_else(|| {
        let number = line.split_once(". ")?;
        number.0.chars().all(|digit| digit.is_ascii_digit()).then_some(number.1)
    })
}
