//! The identity of the file that contains a database.

use std::fmt;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The identity of a file: the inode number and the birth time. After a file is deleted, its inode number may be
/// reused, but no copy has the birth time of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    pub(super) inode: u64,
    /// The birth time of the file, in nanoseconds since the Unix epoch. `None` if the file system does not store birth
    /// times, or the operating system does not return them.
    born: Option<i128>,
}

impl FileId {
    pub(super) fn of(file: &File, found: &Metadata) -> Self {
        let born = birth_time(file).or_else(|| found.created().ok().map(nanoseconds));
        Self { inode: found.ino(), born }
    }

    /// Parses the output of [`Display`](fmt::Display); returns `None` if the string is invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let Some((inode, born)) = text.split_once('/') else {
            return Some(Self { inode: text.parse().ok()?, born: None });
        };
        Some(Self { inode: inode.parse().ok()?, born: Some(born.parse().ok()?) })
    }

    /// Combines two readings of a file's identity. Returns `None` if the readings are from different files. Birth times
    /// are compared only if both readings contain a birth time. Otherwise, a process that can read birth times and a
    /// process that cannot would both always conclude that the file had changed.
    pub(super) fn merge(self, other: Self) -> Option<Self> {
        let differ = self.born.zip(other.born).is_some_and(|(one, other)| one != other);
        let born = self.born.or(other.born);
        (self.inode == other.inode && !differ).then_some(Self { inode: self.inode, born })
    }
}

/// The format in which the store records the identity of its file.
impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.born {
            Some(born) => write!(f, "{}/{born}", self.inode),
            None => write!(f, "{}", self.inode),
        }
    }
}

/// Reads the birth time with the system call `statx`, because `Metadata` does not provide the birth time on musl
/// targets.
#[cfg(target_os = "linux")]
fn birth_time(file: &File) -> Option<i128> {
    use rustix::fs::{AtFlags, StatxFlags, statx};

    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let born = &found.stx_btime;
    let known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    known.then(|| i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec))
}

#[cfg(not(target_os = "linux"))]
fn birth_time(_file: &File) -> Option<i128> {
    None
}

fn nanoseconds(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos().cast_signed(),
        Err(before) => -before.duration().as_nanos().cast_signed(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use super::{FileId, UNIX_EPOCH, birth_time, nanoseconds};

    fn file(inode: u64, born: Option<i128>) -> FileId {
        FileId { inode, born }
    }

    #[test]
    fn displayed_file_id_parses_to_the_same_id() {
        for (id, text) in [
            (file(7, None), "7"),
            (
                file(u64::MAX, Some(1_793_491_200_123_456_789)),
                "18446744073709551615/1793491200123456789",
            ),
            (file(7, Some(-1)), "7/-1"),
        ] {
            assert_eq!(id.to_string(), text);
            assert_eq!(FileId::parse(text), Some(id));
        }
        for text in ["", "x", "7/", "/7", "7/x", "7/7/7", "-7"] {
            assert_eq!(FileId::parse(text), None, "{text:?}");
        }
        assert_eq!(nanoseconds(UNIX_EPOCH - Duration::from_nanos(5)), -5);
    }

    /// Existing stores may contain a birth time that `Metadata` returned, so the system call must return the same birth
    /// time.
    #[cfg(target_os = "linux")]
    #[test]
    fn statx_and_metadata_return_the_same_birth_time() {
        let file = tempfile::tempfile().unwrap();
        let asked = birth_time(&file);
        if let Ok(created) = file.metadata().unwrap().created() {
            assert_eq!(asked, Some(nanoseconds(created)));
        }
        // The file systems on which the tests run store birth times, even if `Metadata` does not return them.
        assert!(asked.is_some());
    }

    #[test]
    fn merge_distinguishes_reused_inodes_by_birth_time() {
        let known = file(7, Some(100));
        assert_eq!(known.merge(known), Some(known));
        assert_eq!(known.merge(file(7, Some(101))), None);
        assert_eq!(known.merge(file(8, Some(100))), None);
        assert_eq!(known.merge(file(7, None)), Some(known));
        assert_eq!(file(7, None).merge(known), Some(known));
        assert_eq!(file(7, None).merge(file(8, None)), None);
    }
}
