//! The CPU time of a server's threads.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Threads whose time is measured.
#[derive(Clone, Copy)]
pub(crate) enum Threads {
    /// All threads of this process with that name, of which Linux keeps 15 characters.
    Named(&'static str),
    /// All threads of another process.
    Of(u32),
}

impl Threads {
    pub(crate) fn time(self) -> io::Result<Duration> {
        let process = match self {
            Self::Named(_) => "self".to_owned(),
            Self::Of(process) => process.to_string(),
        };
        let mut sum = Duration::ZERO;
        for task in fs::read_dir(format!("/proc/{process}/task"))? {
            let task = task?.path();
            let counts = match self {
                Self::Named(name) => fs::read_to_string(task.join("comm"))?.trim_end() == name,
                Self::Of(_) => true,
            };
            if counts {
                sum += time(&task)?;
            }
        }
        Ok(sum)
    }
}

/// Reads the CPU time: the first figure of `schedstat`, in nanoseconds.
fn time(task: &Path) -> io::Result<Duration> {
    let file = task.join("schedstat");
    let text = fs::read_to_string(&file)?;
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    let unknown = || io::Error::other(format!("{}: {text:?}", file.display()));
    nanoseconds.map(Duration::from_nanos).ok_or_else(unknown)
}
