//! Values as people type and read them, and as programs read them.

use anstyle::Style;

pub(crate) mod diagram;
pub(crate) mod duration;
pub(crate) mod instant;
pub(crate) mod number;
pub(crate) mod table;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Text that others wrote, such as names in a store, as one short line without control characters:
/// it must not command the terminal.
pub(crate) fn sanitize(text: &str) -> String {
    const MOST: usize = 40;
    let mut line: String = printable(text).chars().take(MOST).collect();
    if text.chars().count() > MOST {
        line.push('…');
    }
    line
}

/// The same, however long it is.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
