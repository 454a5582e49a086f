//! Standard output and standard error, with colour where it is wanted.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::format::BOLD;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// Bytes: large enough that a system call costs little beside the IDs in it.
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
pub(crate) fn json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The width of the terminal in columns, or 80 where there is none.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(terminal_size::Width(width), _)| width.into())
}

pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether the reader of standard output has gone. A command that writes seldom would otherwise go
/// on for long after that.
#[cfg(unix)]
pub(crate) fn reader_is_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = io::stdout();
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    // If asking fails, the next write tells.
    poll(&mut polled, Some(&at_once)).is_ok() && polled[0].revents().contains(PollFlags::ERR)
}

/// Elsewhere the next write tells.
#[cfg(not(unix))]
pub(crate) fn reader_is_gone() -> bool {
    false
}

pub(crate) fn error(code: &str, message: &str) {
    write_error(&format!("flakeid: {RED}{code}{RED:#}: {message}\n"));
}

pub(crate) fn hint(text: &str) {
    write_error(&format!("{CYAN}hint:{CYAN:#} {text}\n"));
}

pub(crate) fn warning(text: &str) {
    write_error(&format!("flakeid: {YELLOW}warning{YELLOW:#}: {text}\n"));
}

/// Text for people on standard error.
pub(crate) fn note(text: &str) {
    write_error(&format!("{text}\n"));
}

/// Asks on standard error, and leaves the cursor behind the question.
pub(crate) fn question(text: &str) {
    write_error(&format!("{BOLD}{text}{BOLD:#} "));
}

/// If standard error cannot be written, there is nobody left to tell.
fn write_error(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
