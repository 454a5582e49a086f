//! How long threads of this process have had a processor, by their names.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The time of all threads of that name. Linux keeps 15 letters of a name.
pub(crate) fn time_of(name: &str) -> io::Result<Duration> {
    let mut sum = Duration::ZERO;
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if fs::read_to_string(task.join("comm"))?.trim_end() == name {
            sum += time(&task)?;
        }
    }
    Ok(sum)
}

/// The first figure of `schedstat` is nanoseconds on a processor.
fn time(task: &Path) -> io::Result<Duration> {
    let file = task.join("schedstat");
    let text = fs::read_to_string(&file)?;
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    let unknown = || io::Error::other(format!("{}: {text:?}", file.display()));
    nanoseconds.map(Duration::from_nanos).ok_or_else(unknown)
}
