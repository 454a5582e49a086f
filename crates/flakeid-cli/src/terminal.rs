//! Standard output and standard error, in colour if colours are enabled, and the progress bar of
//! `flakeid next`.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::format::{BOLD, number};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// The size of the output buffer in bytes, large enough to make the cost of system calls
/// negligible.
const BUFFER: usize = 1 << 16;

pub(crate) type Stream = BufWriter<StdoutLock<'static>>;

/// Opens standard output for machine-readable lines, with a buffer and without colours.
pub(crate) fn stream() -> Stream {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}

/// Writes text to standard output, and removes the colours unless colours are enabled.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes one JSON object on its own line.
pub(crate) fn json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes several JSON objects to standard output, each on its own line.
pub(crate) fn show_json<T: Serialize>(values: impl IntoIterator<Item = T>) -> io::Result<()> {
    let mut out = stream();
    for value in values {
        json_line(&mut out, &value)?;
    }
    out.flush()
}

/// Returns the width of the terminal in columns, or 80 if there is no terminal.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(terminal_size::Width(width), _)| width.into())
}

pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether the reader of standard output has closed the pipe. Without this check, a command that
/// rarely writes would continue to run long after the reader has ended.
#[cfg(unix)]
pub(crate) fn reader_has_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let out = io::stdout();
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    // If polling fails, the next write reports the error.
    poll(&mut polled, Some(&at_once)).is_ok() && polled[0].revents().contains(PollFlags::ERR)
}

/// Returns `false`, because systems other than Unix do not report a closed pipe until the next
/// write.
#[cfg(not(unix))]
pub(crate) fn reader_has_closed() -> bool {
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

/// Writes a message to standard error.
pub(crate) fn note(text: &str) {
    write_error(&format!("{text}\n"));
}

/// Writes a question to standard error without a line break, so that the user can type the answer
/// on the same line.
pub(crate) fn question(text: &str) {
    write_error(&format!("{BOLD}{text}{BOLD:#} "));
}

/// Writes to standard error. A write error is ignored, because it cannot be reported anywhere.
fn write_error(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// The delay before the progress bar appears. Commands that end sooner do not show a progress bar.
const FIRST_SHOWN_AFTER: Duration = Duration::from_secs(1);

/// The shortest time between two updates of the progress bar.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    total: u64,
    done: u64,
    since: Instant,
    next_draw: Duration,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates a progress bar, which is shown only if standard error is a terminal and standard
    /// output is not.
    pub(crate) fn new(total: u64) -> Self {
        let wanted = io::stderr().is_terminal() && !io::stdout().is_terminal();
        Self {
            total,
            done: 0,
            since: Instant::now(),
            next_draw: FIRST_SHOWN_AFTER,
            wanted,
            bar: None,
        }
    }

    pub(crate) fn advance(&mut self, count: u64) {
        if !self.wanted {
            return;
        }
        self.done += count;
        let elapsed = self.since.elapsed();
        if elapsed < self.next_draw {
            return;
        }
        self.next_draw = elapsed + REDRAW_INTERVAL;
        let bar = self.bar.get_or_insert_with(|| bar(self.total));
        bar.set_message(rate_and_time_left(self.done, self.total, elapsed));
        bar.set_position(self.done);
    }
}

impl Drop for Progress {
    /// Removes the progress bar, because an error or the shell's prompt would otherwise appear on
    /// the same line.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Formats the average rate since the start and the remaining time. The average is meaningful,
/// because the progress bar appears only after a second and a generator's rate is constant.
fn rate_and_time_left(done: u64, total: u64, elapsed: Duration) -> String {
    let per_second = done as f64 / elapsed.as_secs_f64();
    let left = Duration::try_from_secs_f64((total - done) as f64 / per_second);
    let left = left
        .map_or("time left unknown".to_owned(), |left| HumanDuration(left).to_string() + " left");
    format!("{} IDs/s, {left}", number::rate(per_second))
}

fn bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {human_pos} of {human_len}, {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style.progress_chars("=> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_the_mean_rate_and_remaining_time() {
        assert_eq!(
            rate_and_time_left(2000, 5000, Duration::from_secs(2)),
            "1,000 IDs/s, 3 seconds left"
        );
        assert_eq!(
            rate_and_time_left(0, 5000, Duration::from_secs(2)),
            "0 IDs/s, time left unknown"
        );
    }
}
