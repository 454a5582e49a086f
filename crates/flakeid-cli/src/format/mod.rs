//! The formats of values that users type and read, and that programs read.

use anstyle::Style;

pub(crate) mod diagram;
pub(crate) mod duration;
pub(crate) mod instant;
pub(crate) mod number;
pub(crate) mod table;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Shortens text from another party, such as names in a store, to one line without control
/// characters, so that it cannot control the terminal.
pub(crate) fn sanitize(text: &str) -> String {
    const MOST: usize = 40;
    let mut line: String = printable(text).chars().take(MOST).collect();
    if text.chars().count() > MOST {
        line.push('…');
    }
    line
}

/// Replaces control characters, without shortening the text.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
