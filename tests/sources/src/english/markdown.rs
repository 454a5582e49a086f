//! The texts of a document in Markdown: its paragraphs, list items, headings and cells.

use super::texts::{Kind, Text};

/// Returns the texts of a document.
pub(crate) fn texts(document: &str) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut current: Option<Text> = None;
    let mut fence: Option<&str> = None;
    for (line, number) in document.lines().zip(1..) {
        let trimmed = line.trim_start_matches('>').trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        if let Some(mark) = mark.filter(|mark| fence.is_none_or(|open| open == *mark)) {
            fence = if fence.is_some() { None } else { Some(mark) };
            texts.extend(current.take());
            continue;
        }
        if fence.is_some() {
            continue;
        }
        let item = item(trimmed);
        let begins =
            trimmed.is_empty() || item.is_some() || trimmed.starts_with(['#', '|', '<', '!']);
        if begins {
            texts.extend(current.take());
        }
        let fragment = |content: &str| Text {
            kind: Kind::Fragment,
            line: number,
            content: content.to_owned(),
        };
        if trimmed.starts_with('|') {
            texts.extend(
                trimmed.split('|').map(str::trim).filter(|cell| !cell.is_empty()).map(fragment),
            );
        } else if trimmed.starts_with('#') {
            texts.push(fragment(trimmed.trim_start_matches('#').trim()));
        } else if trimmed.is_empty()
            || trimmed.starts_with(['<', '!'])
            || trimmed.starts_with("{{#")
        {
            // Markup, and what is included from elsewhere.
        } else if let Some(text) = &mut current {
            text.content.push(' ');
            text.content.push_str(trimmed);
        } else {
            let content = item.unwrap_or(trimmed).to_owned();
            current = Some(Text { kind: Kind::Paragraph, line: number, content });
        }
    }
    texts.extend(current);
    texts
}

/// Returns the text of a list item.
fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    bullet.or_else(|| {
        let number = line.split_once(". ")?;
        number.0.chars().all(|digit| digit.is_ascii_digit()).then_some(number.1)
    })
}
