//! The formats of values in arguments and output, for human readers and for programs.

use anstyle::Style;
use flakeid_core::is_invisible;

pub(crate) mod diagram;
pub(crate) mod duration;
pub(crate) mod instant;
pub(crate) mod number;
pub(crate) mod table;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Truncates an untrusted string, such as a name from a store, to 40 characters. Control characters
/// are replaced, so that the string cannot control the terminal.
pub(crate) fn sanitize(text: &str) -> String {
    const MOST: usize = 40;
    let mut line: String = printable(text).chars().take(MOST).collect();
    if text.chars().count() > MOST {
        line.push('…');
    }
    line
}

/// Replaces the invisible characters in a string, without shortening it.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_invisible(c) { '\u{fffd}' } else { c }).collect()
}
