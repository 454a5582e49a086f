//! A separate clock for processes, as if they ran on a host of their own. The processes read the
//! system clock, so libfaketime is preloaded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The clock of one host's processes.
pub struct HostClock {
    library: PathBuf,
    folder: TempDir,
}

impl HostClock {
    /// Returns a clock without an error.
    ///
    /// # Errors
    /// libfaketime is not installed, or a temporary folder cannot be created.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("flakeid-clock").tempdir()?;
        let clock = Self { library: library()?, folder };
        clock.set_error(0)?;
        Ok(clock)
    }

    /// Sets the clock's error in milliseconds, also for processes that start later.
    ///
    /// # Errors
    /// The temporary folder cannot be written.
    pub fn set_error(&self, ms: i64) -> io::Result<()> {
        let sign = if ms < 0 { '-' } else { '+' };
        let (seconds, rest) = (ms.unsigned_abs() / 1_000, ms.unsigned_abs() % 1_000);
        let written = self.folder.path().join("new");
        fs::write(&written, format!("{sign}{seconds}.{rest:03}\n"))?;
        // A process may read the file at any time, so it is replaced in one step.
        fs::rename(written, self.file())
    }

    /// Makes a command read this clock. Timers are not affected.
    pub fn apply_to(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_NO_CACHE", "1")
            // The name of this variable differs between versions.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
    }

    /// Removes the files that the library leaves behind when a process is killed.
    pub fn clean_up(process: u32) {
        for name in [format!("faketime_shm_{process}"), format!("sem.faketime_sem_{process}")] {
            // A process that ended regularly has removed the files itself.
            let _ = fs::remove_file(Path::new("/dev/shm").join(name));
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("error")
    }
}

fn library() -> io::Result<PathBuf> {
    let mut found = Vec::new();
    for folder in fs::read_dir("/usr/lib")? {
        let library = folder?.path().join("faketime/libfaketimeMT.so.1");
        found.extend(library.is_file().then_some(library));
    }
    let missing =
        "setting the clock of a process requires libfaketime: apt-get install libfaketime";
    found.pop().ok_or_else(|| io::Error::other(missing))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn clock_error_changes_the_time_that_processes_see() {
        let clock = HostClock::new().unwrap();
        let seconds = || {
            let mut date = Command::new("date");
            clock.apply_to(date.arg("+%s"));
            let text = String::from_utf8(date.output().unwrap().stdout).unwrap();
            text.trim().parse::<i64>().unwrap()
        };
        let before = seconds();
        clock.set_error(-7_200_500).unwrap();
        assert!((7_190..7_202).contains(&(before - seconds())));
        clock.set_error(3_600_000).unwrap();
        assert!((3_599..3_610).contains(&(seconds() - before)));
    }
}
