//! Standard output and standard error, with colour where it is wanted.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::failure::Outcome;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// Large enough that a system call is nothing beside the IDs in it.
const BUFFER: usize = 1 << 16;

pub(crate) type Stream = BufWriter<StdoutLock<'static>>;

/// For lines that programs read: buffered, never coloured.
pub(crate) fn stream() -> Stream {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}

/// Writes text for people, whose colours are taken out unless they are wanted.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// One JSON object on a line of its own.
pub(crate) fn json_line(out: &mut impl Write, value: &impl Serialize) -> Outcome {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// How wide the terminal is, and what is usual where there is none.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(terminal_size::Width(width), _)| width.into())
}

pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

pub(crate) fn error(code: &str, message: &str) {
    say(&format!("flakeid: {RED}{code}{RED:#}: {message}\n"));
}

pub(crate) fn hint(text: &str) {
    say(&format!("{CYAN}hint:{CYAN:#} {text}\n"));
}

pub(crate) fn warning(text: &str) {
    say(&format!("flakeid: {YELLOW}warning{YELLOW:#}: {text}\n"));
}

/// Nobody is left to be told if standard error cannot be written.
fn say(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
