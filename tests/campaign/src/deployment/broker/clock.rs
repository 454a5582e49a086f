//! A clock of its own for a broker, which is a process that reads the system's: libfaketime is preloaded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The clock of the processes of one broker.
pub(crate) struct BrokerClock {
    library: PathBuf,
    folder: TempDir,
}

impl BrokerClock {
    /// A clock that is right.
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("flakeid-clock").tempdir()?;
        let clock = Self { library: library()?, folder };
        clock.set_error(0)?;
        Ok(clock)
    }

    /// Sets it wrong by so many milliseconds, also for processes that are started later.
    pub(crate) fn set_error(&self, ms: i64) -> io::Result<()> {
        let sign = if ms < 0 { '-' } else { '+' };
        let (seconds, rest) = (ms.unsigned_abs() / 1_000, ms.unsigned_abs() % 1_000);
        let written = self.folder.path().join("new");
        fs::write(&written, format!("{sign}{seconds}.{rest:03}\n"))?;
        // In one step, because it may be read at any time.
        fs::rename(written, self.file())
    }

    /// Lets a command read it. Timers go on as ever.
    pub(crate) fn give_to(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_NO_CACHE", "1")
            // Versions differ in how they spell it.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
    }

    /// Removes what the library leaves behind when a process is killed.
    pub(crate) fn clean_up(process: u32) {
        for name in [format!("faketime_shm_{process}"), format!("sem.faketime_sem_{process}")] {
            // There is nothing if the process ended by itself.
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
    let missing = "the clocks of brokers are set by libfaketime: apt-get install libfaketime";
    found.pop().ok_or_else(|| io::Error::other(missing))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn running_process_reads_changes_of_its_clock() {
        let clock = BrokerClock::new().unwrap();
        let seconds = || {
            let mut date = Command::new("date");
            clock.give_to(date.arg("+%s"));
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
