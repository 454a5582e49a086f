//! The progress bar of `flakeid next`.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::format::number;

/// A run that ends sooner needs no progress bar.
const FIRST_SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Between two changes of the bar.
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
    /// Shown only to somebody who sees standard error but not the IDs themselves.
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
    /// Errors and the shell's prompt come next, on the same line.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Measured over the whole run, because the bar appears late and the rate of a generator is even.
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
    fn the_rate_is_that_of_the_whole_run() {
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
